import type { HandlerContext, Outcome, Store } from '@call-webhooks/core';
import { EventModel } from './event-model.ts';
import { ABANDONED, foresee, foreseeEnd, type Behaviour, type Sent } from './foresight.ts';
import { Ledger } from './ledger.ts';
import { Machine, type MachineEvents } from './machine.ts';
import { OpenDeliveries, type Open } from './open-deliveries.ts';
import { RunningHandlers } from './running-handlers.ts';
import { EVENTS, keyOf, RETRY_AFTER_MS, Service } from './service.ts';
import { must, type Violation } from './violation.ts';
import type { StoreFault } from './watched-store.ts';

/** How the world's clock is turned, and what is under way brought to rest. */
export interface Time {
  advance(ms: number): Promise<void>;
}

/** Machines, a store, a service that sends: the real receivers, and the model that watches them. */
export class World implements MachineEvents {
  readonly ledger = new Ledger();
  readonly service = new Service();
  readonly #model = new EventModel(() => {
    this.ledger.note('a lease that ran out, and was taken over');
  });
  readonly #store: Store;
  readonly #time: Time;
  readonly #machines: Machine[] = [];
  readonly #open = new OpenDeliveries();
  readonly #running = new RunningHandlers();
  #violation: Error | undefined;
  #made = 0;

  constructor(store: Store, time: Time) {
    this.#store = store;
    this.#time = time;
    for (let at = 0; at < 2; at++) this.#machines[at] = this.#newMachine();
  }

  get runningCount(): number {
    return this.#running.count;
  }

  /** Which events wait for the service's next attempt. */
  get unacknowledged(): readonly number[] {
    return EVENTS.filter((event) => this.ledger.unacknowledged.includes(keyOf(event)));
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

  /** What the service does with an event that was not acknowledged, some five minutes later. */
  async retry(at: number, which: number, behaviour: Behaviour): Promise<void> {
    this.ledger.note('a retry');
    await this.advance(RETRY_AFTER_MS);
    const waiting = this.unacknowledged; // a late success is not told to the service
    await this.deliver(at, waiting[which % waiting.length] as number, behaviour, 0);
  }

  /** The same request once more, as an attacker who saw it would send it. */
  replay(at: number, which: number): Promise<void> {
    return this.#send(this.service.captured(which), this.machine(at));
  }

  async advance(ms: number): Promise<void> {
    await this.#time.advance(ms);
    this.#check();
  }

  /** Brings a slow handler to its end; maybe one that has lost its lease long ago. */
  async finish(which: number, ok: boolean): Promise<void> {
    const running = this.#running.take(which);
    const { machine, key, webhookId } = running;
    const ends = foreseeEnd({ ...running, ok }, machine, this.#model, Date.now());
    // A store that does not answer may be waited for until the deadline.
    this.#open.expect(webhookId, machine.store.fault === 'hang' ? [ends, 'deadline'] : [ends]);
    if (ok) this.ledger.effect(key);
    running.end(ok);
    await this.advance(0);
    must(ends !== 'handled' || this.#model.isDone(key), `${key}: a good end was not committed`);
  }

  /** The process dies: its handlers, its open requests and its timers are gone. */
  async crash(at: number): Promise<void> {
    const machine = this.machine(at);
    machine.store.dead = true;
    this.#open.bury(machine);
    this.#running.bury(machine);
    this.#machines[at % this.#machines.length] = this.#newMachine();
    await this.advance(0);
  }

  /** A deploy: the old process is closed with grace, and sent one more delivery meanwhile. */
  async close(at: number, event: number): Promise<void> {
    const machine = this.machine(at);
    const closed = machine.receiver.close({ graceMs: 5_000 });
    machine.closing = true;
    this.#running.disturb(machine);
    await this.deliver(at, event, 'ok', 0);
    this.#open.expectOfAll(machine, ABANDONED);
    await this.advance(7_000);
    await closed;
    this.#machines[at % this.#machines.length] = this.#newMachine();
  }

  /** Something comes between a machine and the store, or goes away again. */
  setFault(at: number, fault: StoreFault): void {
    const machine = this.machine(at);
    machine.store.fault = fault;
    if (fault !== 'none') this.#running.disturb(machine);
  }

  secrets(): string[] {
    return this.service.secrets;
  }

  handle(machine: Machine, context: HandlerContext): void | Promise<void> {
    const { webhookId, attempt } = context;
    const key = String(context.key);
    this.#guard(() => {
      const admission = machine.store.takeAdmission(webhookId);
      must(admission.attempt === attempt, `${key}: attempt ${String(attempt)} is not the store's`);
      must(
        this.#model.lease(key, Date.now()) === admission.token,
        `${key}: a handler ran without the lease`,
      );
      this.ledger.attempt(key, attempt);
    });
    const behaviour = this.service.behaviour(webhookId);
    if (behaviour === 'fail') throw new Error('the handler failed');
    if (behaviour === 'ok') {
      this.ledger.effect(key);
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

  parked(...[delivery]: Parameters<MachineEvents['parked']>): void {
    this.ledger.parked(delivery);
  }

  outcome(machine: Machine, { outcome, key, late }: Outcome): void {
    if (machine.store.dead || key === undefined) return;
    if (outcome === 'handled' || outcome === 'dead-lettered')
      this.#guard(() => {
        must(
          this.#model.isDone(key),
          `${key}: ${outcome}, but not committed (${late ? 'late' : 'in time'})`,
        );
      });
  }

  #newMachine(): Machine {
    return new Machine(`machine-${String(this.#made++)}`, this.#store, this.#model, this);
  }

  async #send(sent: Sent, machine: Machine): Promise<void> {
    const { headers, body } = sent;
    const expected = foresee(sent, machine, this.#model, this.service.secrets, Date.now());
    const open: Open = { sent, machine, since: Date.now(), expected };
    this.#open.add(open);
    this.ledger.sent(sent.key);
    void machine.receiver.receive({ headers, body }).then(({ outcome }) => (open.answer = outcome));
    await this.advance(machine.store.fault === 'hang' ? 1_010 : 0);
  }

  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#violation ??= error as Violation;
    }
  }

  /** Everything that holds at every moment. @throws Violation */
  #check(): void {
    const violation =
      this.#violation ?? this.#machines.find(({ store }) => store.violation)?.store.violation;
    if (violation) throw violation;
    this.#running.check(this.#model, Date.now());
    this.#open.check(this.ledger, Date.now());
  }
}
