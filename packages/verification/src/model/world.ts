import type { Store } from '@call-webhooks/core';
import { assertThat, type Violation } from './assert.ts';
import type { StoreFault } from './checked-store.ts';
import { EventLog } from './event-log.ts';
import { EventModel } from './event-model.ts';
import { CLOSED_UNFINISHED, predict, predictEnd, predictStray } from './predict.ts';
import { Machine, type MachineOptions } from './machine.ts';
import { OpenDeliveries, type OpenDelivery } from './open-deliveries.ts';
import { RunningHandlers } from './running-handlers.ts';
import { RETRY_AFTER_MS, Service, type SentRequest } from './service.ts';
import { checkEffects, type Behaviour, type EffectsTable, type Ending } from './transactions.ts';

/** Advances the fake clock, and waits until everything in progress has settled. */
export interface FakeTime {
  advance(ms: number): Promise<void>;
  /** Sets the wall clock, as an operator or NTP does. Timers and the monotonic clock are not affected. */
  setWallClock?(now: number): void;
}

/** Real receivers on one store, a service that sends to them, and the model that checks them. */
export class World {
  readonly log = new EventLog();
  readonly service: Service;
  readonly #model: EventModel;
  readonly #time: FakeTime;
  readonly #machines: Machine[] = [];
  readonly #open = new OpenDeliveries();
  readonly #running = new RunningHandlers<Machine>();
  readonly #options: MachineOptions;
  readonly #effects: EffectsTable | undefined;
  readonly #newMachine: () => Machine;
  readonly #violations: Violation[] = [];

  /** @param effects where handlers with `completeIn` have their effects; then all handlers use it */
  constructor(store: Store, time: FakeTime, options: MachineOptions, effects?: EffectsTable) {
    this.service = new Service(options.hasTenants);
    this.#effects = effects;
    this.#options = options;
    this.#time = time;
    const lease = time.setWallClock ? () => performance.now() : Date.now;
    this.#model = new EventModel({ wall: Date.now, lease }, () => {
      this.log.note('an expired lease that was taken over');
    });
    const shared = {
      store,
      model: this.#model,
      log: this.log,
      service: this.service,
      running: this.#running,
      options,
      effects,
      violations: this.#violations,
    };
    this.#newMachine = () => new Machine(shared);
    this.#machines.push(this.#newMachine(), this.#newMachine());
  }

  get runningCount(): number {
    return this.#running.count;
  }

  /** The events that the service will send again. */
  get unacknowledged(): readonly number[] {
    const { keys } = this.service;
    return this.log.unacknowledged.map((key) => keys.indexOf(key)).sort();
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

  /** A request of one tenant arrives at the endpoint of the other one. */
  stray(at: number, which: number): Promise<void> {
    this.log.note('a request at the wrong tenant');
    const sent = this.service.stray(which);
    return this.#send(sent, this.machine(at), [predictStray(sent, Date.now())]);
  }

  async advance(ms: number): Promise<void> {
    await this.#time.advance(ms);
    for (const { store } of this.#machines) store.isCut = false;
    this.#check();
  }

  /** Ends a slow handler, possibly one that lost its lease long ago. */
  async finish(which: number, ending: Ending): Promise<void> {
    const running = this.#running.take(which);
    const { machine, key, webhookId } = running;
    const predicted = predictEnd({ ...running, ending }, machine, this.#model);
    // The receiver may wait until the deadline for a store that does not reply.
    this.#open.expect(
      webhookId,
      machine.store.fault === 'hang' ? [predicted, 'deadline'] : [predicted],
    );
    running.end(ending);
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
    let closed = false;
    void machine.receiver.close({ graceMs: 5_000 }).then(() => (closed = true));
    machine.closing = true;
    this.#running.markDisturbed(machine);
    await this.deliver(at, event, this.#effects ? 'commit' : 'ok', 0);
    this.#open.expectOfAll(machine, CLOSED_UNFINISHED);
    await this.advance(7_000);
    assertThat(closed, 'close() did not end after its grace period');
    this.#machines[at % this.#machines.length] = this.#newMachine();
  }

  /** The dead-letter sink of a machine goes down, or comes back. */
  setSinkFault(at: number, fails: boolean): void {
    this.machine(at).sinkFails = fails;
  }

  get canStepClock(): boolean {
    return this.#time.setWallClock !== undefined;
  }

  /** The wall clock is set. Only stores of a single process promise that no lease changes by that. */
  async stepClock(ms: number): Promise<void> {
    this.log.note('a step of the wall clock');
    this.#time.setWallClock?.(Date.now() + ms);
    await this.advance(0);
  }

  /** Breaks the connection between a machine and the store, or repairs it. */
  setFault(at: number, fault: StoreFault): void {
    const machine = this.machine(at);
    machine.store.fault = fault;
    if (fault !== 'none') this.#running.markDisturbed(machine);
  }

  async #send(
    sent: SentRequest,
    machine: Machine,
    expected = predict(sent, machine, this.#model, this.service.secrets(sent.tenant), Date.now()),
  ): Promise<void> {
    const open: OpenDelivery = { sent, machine, since: performance.now(), expected };
    this.#open.add(open);
    this.log.sent(sent.key);
    void machine.receiver.receive(sent).then(({ outcome }) => (open.outcome = outcome));
    await this.advance(machine.store.fault === 'hang' ? 1_010 : 0);
  }

  /** Checks what has to hold at every moment. @throws Violation */
  #check(): void {
    const [violation] = this.#violations;
    if (violation) throw violation;
    this.#running.check(this.#model);
    this.#open.check(this.log);
    if (this.#effects) checkEffects(this.#effects, this.#model, this.service.keys);
    if (this.#options.oneAtATime) this.#open.checkWaits(this.#running, this.#model, this.log);
  }
}
