import {
  generateSecret,
  sign,
  type HandlerContext,
  type Outcome,
  type Store,
} from '@call-webhooks/core';
import { EventModel } from './event-model.ts';
import { foresee, foreseeEnd, type Behaviour, type Sent } from './foresight.ts';
import { Ledger } from './ledger.ts';
import { Machine, type MachineEvents } from './machine.ts';
import { must, type Violation } from './violation.ts';

/** A delivery that waits for its answer. */
interface Open {
  sent: Sent;
  machine: Machine;
  since: number;
  expected: string[];
  answer?: Outcome;
}

/** A handler that has not ended. */
interface Running {
  machine: Machine;
  webhookId: string;
  key: string;
  attempt: number;
  token: string;
  end(ok: boolean): void;
}

/** How the world's clock is turned, and what is under way brought to rest. */
export interface Time {
  advance(ms: number): Promise<void>;
}

const ACK_WITHIN = 20_000;

/** Machines, a store, a service that sends: the real receivers, and the model that watches them. */
export class World implements MachineEvents {
  readonly ledger = new Ledger();
  readonly #model = new EventModel();
  readonly #store: Store;
  readonly #time: Time;
  readonly #machines: Machine[] = [];
  readonly #captured: Sent[] = [];
  readonly #behaviours = new Map<string, Behaviour>();
  #secrets = [generateSecret()];
  #open: Open[] = [];
  #running: Running[] = [];
  #violation: Error | undefined;
  #made = 0;

  constructor(store: Store, time: Time) {
    this.#store = store;
    this.#time = time;
    for (let at = 0; at < 2; at++) this.#machines[at] = this.#newMachine();
  }

  get runningCount(): number {
    return this.#running.length;
  }

  get capturedCount(): number {
    return this.#captured.length;
  }

  machine(at: number): Machine {
    return this.#machines[at % this.#machines.length] as Machine;
  }

  /** A new attempt of an event: a webhook id of its own, signed with the newest secret. */
  async deliver(
    at: number,
    event: number,
    behaviour: Behaviour,
    skewSeconds: number,
  ): Promise<void> {
    const callId = `call-${String(event)}`;
    const body = Buffer.from(JSON.stringify({ eventName: 'call:completed', callId }));
    const webhookId = `id-${String(this.#made++)}`;
    const signedFor = Date.now() + skewSeconds * 1000;
    const secret = this.#secrets[0] as string;
    const headers = await sign({
      secret,
      body,
      webhookId,
      timestamp: Math.floor(signedFor / 1000),
    });
    const key = `${callId}:call:completed`;
    const sent = { webhookId, key, behaviour, signedFor, secret, headers, body };
    this.#behaviours.set(webhookId, behaviour);
    this.#captured.push(sent);
    await this.#send(sent, this.machine(at));
  }

  /** The same request once more, as an attacker who saw it would send it. */
  replay(at: number, which: number): Promise<void> {
    const sent = this.#captured[which % this.#captured.length] as Sent;
    return this.#send(sent, this.machine(at));
  }

  async advance(ms: number): Promise<void> {
    await this.#time.advance(ms);
    this.#check();
  }

  /** Brings a slow handler to its end; maybe one that has lost its lease long ago. */
  async finish(which: number, ok: boolean): Promise<void> {
    const running = this.#running[which % this.#running.length] as Running;
    const { machine, key, webhookId } = running;
    this.#running = this.#running.filter((one) => one !== running);
    const open = this.#open.find(({ sent }) => sent.webhookId === webhookId);
    if (open) {
      const ends = foreseeEnd({ ...running, ok }, machine, this.#model, Date.now());
      // A store that does not answer may be waited for until the deadline.
      open.expected = machine.store.fault === 'hang' ? [...ends, 'deadline'] : ends;
    }
    if (ok) this.ledger.effect(key);
    running.end(ok);
    await this.advance(0);
  }

  /** The process dies: its handlers, its open requests and its timers are gone. */
  async crash(at: number): Promise<void> {
    const machine = this.machine(at);
    machine.store.dead = true;
    this.#open = this.#open.filter((open) => open.machine !== machine);
    this.#running = this.#running.filter((running) => running.machine !== machine);
    this.#machines[at % this.#machines.length] = this.#newMachine();
    await this.advance(0);
  }

  /** A deploy: the old process is closed with grace, and sent one more delivery meanwhile. */
  async close(at: number, event: number): Promise<void> {
    const machine = this.machine(at);
    const closed = machine.receiver.close({ graceMs: 5_000 });
    machine.closing = true;
    await this.deliver(at, event, 'ok', 0);
    // What is abandoned is answered by its deadline, and must not be acknowledged.
    for (const open of this.#open)
      if (open.machine === machine)
        open.expected = ['deadline', 'in-progress', 'handler-failed', 'store-unavailable'];
    await this.advance(7_000);
    await closed;
    this.#machines[at % this.#machines.length] = this.#newMachine();
  }

  /** The service rotates its secret; the old one stays live for deliveries in flight. */
  rotate(): void {
    this.#secrets = [generateSecret(), this.#secrets[0] as string];
  }

  secrets(): string[] {
    return this.#secrets;
  }

  async handle(machine: Machine, context: HandlerContext): Promise<void> {
    const { webhookId, attempt } = context;
    const key = String(context.key);
    this.#guard(() => {
      const admission = machine.store.admitted.get(webhookId);
      must(
        admission !== undefined,
        `${key}: a handler ran for ${webhookId}, which was not admitted`,
      );
      machine.store.admitted.delete(webhookId);
      must(admission.attempt === attempt, `${key}: attempt ${String(attempt)} is not the store's`);
      must(
        this.#model.lease(key, Date.now()) === admission.token,
        `${key}: a handler ran without the lease`,
      );
      this.ledger.attempt(key, attempt);
    });
    const behaviour = this.#behaviours.get(webhookId);
    if (behaviour === 'fail') throw new Error('the handler failed');
    if (behaviour === 'ok') {
      this.ledger.effect(key);
      return;
    }
    const token = this.#model.lease(key, Date.now()) ?? '';
    await new Promise<void>((resolve, reject) => {
      const end = (ok: boolean) => {
        if (ok) resolve();
        else reject(new Error('the handler failed late'));
      };
      this.#running.push({ machine, webhookId, key, attempt, token, end });
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
    const expected = foresee(sent, machine, this.#model, this.#secrets, Date.now());
    const open: Open = { sent, machine, since: Date.now(), expected };
    this.#open.push(open);
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
    for (const open of this.#open) {
      const { answer, sent, expected } = open;
      if (!answer) {
        must(Date.now() - open.since <= ACK_WITHIN + 10, `${sent.key}: no answer in time`);
        continue;
      }
      must(
        expected.includes(answer.outcome),
        `${sent.key} (${sent.webhookId}, ${sent.behaviour}): ${answer.outcome}, expected ${expected.join(' or ')}`,
      );
      this.ledger.answer(sent.key, answer);
    }
    this.#open = this.#open.filter(({ answer }) => !answer);
  }
}
