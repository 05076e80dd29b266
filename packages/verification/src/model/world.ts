import type { HandlerContext, Outcome, Store } from '@call-webhooks/core';
import { EventModel } from './event-model.ts';
import {
  CLOSED_UNFINISHED,
  predict,
  predictEnd,
  type Behaviour,
  type SentRequest,
} from './predict.ts';
import { EventLog } from './event-log.ts';
import { Machine, type MachineEvents } from './machine.ts';
import { OpenDeliveries, type OpenDelivery } from './open-deliveries.ts';
import { RunningHandlers } from './running-handlers.ts';
import { EVENTS, keyOf, RETRY_AFTER_MS, Service } from './service.ts';
import { assertThat, type Violation } from './assert.ts';
import type { StoreFault } from './checked-store.ts';

/** Advances the fake clock, and waits until everything in progress has settled. */
export interface FakeTime {
  advance(ms: number): Promise<void>;
}

/** Real receivers on one store, a service that sends to them, and the model that checks them. */
export class World implements MachineEvents {
  readonly log = new EventLog();
  readonly service = new Service();
  readonly #model = new EventModel(() => {
    this.log.note('an expired lease that was taken over');
  });
  readonly #store: Store;
  readonly #time: FakeTime;
  readonly #machines: Machine[] = [];
  readonly #open = new OpenDeliveries();
  readonly #running = new RunningHandlers();
  #violation: Error | undefined;
  #made = 0;

  constructor(store: Store, time: FakeTime) {
    this.#store = store;
    this.#time = time;
    for (let at = 0; at < 2; at++) this.#machines[at] = this.#newMachine();
  }

  get runningCount(): number {
    return this.#running.count;
  }

  /** The events that the service will send again. */
  get unacknowledged(): readonly number[] {
    return EVENTS.filter((event) => this.log.unacknowledged.includes(keyOf(event)));
  }

  machine(at: number): Machine {
    return this.#machines[at % this.#machines.length] as Machine;
  }

  async deliver(
    at: number,
    event: number,
    behaviour: Behaviour,
    skewSeconds: number,
  ): Promise<void> {
    await this.#send(await this.service.attempt(event, behaviour, skewSeconds), this.machine(at));
  }

  /** The service sends an unacknowledged event again, about five minutes later. */
  async retry(at: number, which: number, behaviour: Behaviour): Promise<void> {
    this.log.note('a retry');
    await this.advance(RETRY_AFTER_MS);
    const waiting = this.unacknowledged; // a late success does not reach the service
    await this.deliver(at, waiting[which % waiting.length] as number, behaviour, 0);
  }

  /** An attacker sends a captured request again. */
  replay(at: number, which: number): Promise<void> {
    return this.#send(this.service.captured(which), this.machine(at));
  }

  async advance(ms: number): Promise<void> {
    await this.#time.advance(ms);
    this.#check();
  }

  /** Ends a slow handler, possibly one that lost its lease long ago. */
  async finish(which: number, ok: boolean): Promise<void> {
    const running = this.#running.take(which);
    const { machine, key, webhookId } = running;
    const predicted = predictEnd({ ...running, ok }, machine, this.#model, Date.now());
    // The receiver may wait until the deadline for a store that does not reply.
    this.#open.expect(
      webhookId,
      machine.store.fault === 'hang' ? [predicted, 'deadline'] : [predicted],
    );
    if (ok) this.log.effect(key);
    running.end(ok);
    await this.advance(0);
    assertThat(
      predicted !== 'handled' || this.#model.isDone(key),
      `${key}: a success was not committed`,
    );
  }

  /** The process dies with its handlers, its open requests and its timers. */
  async crash(at: number): Promise<void> {
    const machine = this.machine(at);
    machine.store.dead = true;
    this.#open.removeMachine(machine);
    this.#running.removeMachine(machine);
    this.#machines[at % this.#machines.length] = this.#newMachine();
    await this.advance(0);
  }

  /** A deploy: the old process is closed with a grace period, and gets one more delivery meanwhile. */
  async close(at: number, event: number): Promise<void> {
    const machine = this.machine(at);
    const closed = machine.receiver.close({ graceMs: 5_000 });
    machine.closing = true;
    this.#running.markDisturbed(machine);
    await this.deliver(at, event, 'ok', 0);
    this.#open.expectOfAll(machine, CLOSED_UNFINISHED);
    await this.advance(7_000);
    await closed;
    this.#machines[at % this.#machines.length] = this.#newMachine();
  }

  /** Breaks the connection between a machine and the store, or repairs it. */
  setFault(at: number, fault: StoreFault): void {
    const machine = this.machine(at);
    machine.store.fault = fault;
    if (fault !== 'none') this.#running.markDisturbed(machine);
  }

  secrets(): string[] {
    return this.service.secrets;
  }

  runHandler(machine: Machine, context: HandlerContext): void | Promise<void> {
    const { webhookId, attempt } = context;
    const key = String(context.key);
    this.#guard(() => {
      const admission = machine.store.takeAdmission(webhookId);
      assertThat(
        admission.attempt === attempt,
        `${key}: attempt ${String(attempt)} is not the store's`,
      );
      assertThat(
        this.#model.lease(key, Date.now()) === admission.token,
        `${key}: a handler ran without the lease`,
      );
      this.log.attempt(key, attempt);
    });
    const behaviour = this.service.behaviour(webhookId);
    if (behaviour === 'fail') throw new Error('the handler failed');
    if (behaviour === 'ok') {
      this.log.effect(key);
      return;
    }
    const token = this.#model.lease(key, Date.now()) ?? '';
    return this.#running.run({
      machine,
      webhookId,
      key,
      attempt,
      token,
      since: Date.now(),
      undisturbed: machine.store.fault === 'none',
    });
  }

  deadLettered(...[delivery]: Parameters<MachineEvents['deadLettered']>): void {
    this.log.deadLettered(delivery);
  }

  outcome(machine: Machine, { outcome, key, late }: Outcome): void {
    if (machine.store.dead || key === undefined) return;
    if (outcome === 'handled' || outcome === 'dead-lettered')
      this.#guard(() => {
        assertThat(
          this.#model.isDone(key),
          `${key}: ${outcome}, but not committed (${late ? 'late' : 'in time'})`,
        );
      });
  }

  #newMachine(): Machine {
    return new Machine(`machine-${String(this.#made++)}`, this.#store, this.#model, this);
  }

  async #send(sent: SentRequest, machine: Machine): Promise<void> {
    const { headers, body } = sent;
    const expected = predict(sent, machine, this.#model, this.service.secrets, Date.now());
    const open: OpenDelivery = { sent, machine, since: Date.now(), expected };
    this.#open.add(open);
    this.log.sent(sent.key);
    void machine.receiver
      .receive({ headers, body })
      .then(({ outcome }) => (open.outcome = outcome));
    await this.advance(machine.store.fault === 'hang' ? 1_010 : 0);
  }

  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#violation ??= error as Violation;
    }
  }

  /** Checks what has to hold at every moment. @throws Violation */
  #check(): void {
    const violation =
      this.#violation ?? this.#machines.find(({ store }) => store.violation)?.store.violation;
    if (violation) throw violation;
    this.#running.check(this.#model, Date.now());
    this.#open.check(this.log, Date.now());
  }
}
