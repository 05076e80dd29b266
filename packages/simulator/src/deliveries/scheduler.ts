import type { Timer } from '../clock/clock.ts';
import type { InFlightRequests } from '../clock/in-flight-requests.ts';
import type { Outbox } from '../outbox.ts';
import { omit } from '../records.ts';
import type { PauseReason } from '../rules/rule.ts';
import { type AttemptParts, attemptDelivery, createStop, retryDelay } from './attempt.ts';
import type { Attempt, AttemptResult, Delivery } from './delivery.ts';
import type { DeliveryLog } from './log.ts';

/** Limits how many tasks run at once. The others wait in order. */
class Semaphore {
  readonly #limit: number;
  readonly #queue: (() => boolean)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Calls `start` when a slot is free: synchronously if one is free now.
   * @param start returns `true` to keep the slot until `release`, `false` when it needs none
   */
  acquire(start: () => boolean): void {
    if (this.#running >= this.#limit) this.#queue.push(start);
    else if (start()) this.#running++;
  }

  release(): void {
    this.#running--;
    while (this.#running < this.#limit) {
      const next = this.#queue.shift();
      if (!next) return;
      if (next()) this.#running++;
    }
  }
}

/** What is used of the simulation. */
interface Parts extends AttemptParts {
  readonly inFlight: InFlightRequests;
  readonly log: DeliveryLog;
  readonly outbox: Outbox;
}

/** Sends deliveries when they are due, retries them, and pauses rules. */
export class DeliveryScheduler {
  readonly #simulation: Parts;
  readonly #waiting = new Map<string, Timer>();
  #slots: Semaphore;
  #stop = createStop();

  constructor(simulation: Parts) {
    this.#simulation = simulation;
    this.#slots = new Semaphore(simulation.settings.maxInFlight);
  }

  /** Sends a delivery at a time of the simulator's clock, or now if that has passed. */
  schedule(delivery: Delivery, at: number): void {
    const { clock, log } = this.#simulation;
    const { _id } = log.put({ ...delivery, state: 'waiting', nextAttemptAt: at });
    if (at <= clock.now()) {
      this.#attempt(_id);
      return;
    }
    const timer = clock.at(at, () => {
      this.#waiting.delete(_id);
      this.#attempt(_id);
    });
    this.#waiting.set(_id, timer);
  }

  /** Drops or holds the waiting deliveries of a rule. Attempts in flight go on. */
  onRulePaused(ruleId: string): void {
    for (const delivery of this.#takeWaiting((one) => one.ruleId === ruleId && !isResent(one)))
      this.dropOrHold(delivery);
  }

  /** Sends the deliveries that were held while the rule was paused. */
  onRuleResumed(ruleId: string): void {
    const { log, clock } = this.#simulation;
    for (const delivery of log.list({ ruleId, state: 'held' }))
      this.schedule(delivery, clock.now());
  }

  /** Drops the waiting and held deliveries of actions that no longer exist. Attempts in flight go on. */
  onActionsRemoved(ruleId: string): void {
    const isGone = (one: Delivery) => one.ruleId === ruleId && !this.#hasAction(one);
    for (const delivery of this.#takeWaiting(isGone)) this.#drop(delivery);
    for (const delivery of this.#simulation.log.list({ ruleId, state: 'held' }))
      if (isGone(delivery)) this.#drop(delivery);
  }

  /** Drops a delivery whose rule is paused, or holds it until the rule is resumed. */
  dropOrHold(delivery: Delivery): void {
    const hold =
      this.#simulation.settings.whilePaused === 'hold' &&
      !isResent(delivery) &&
      this.#hasAction(delivery);
    if (!hold) this.#drop(delivery);
    else this.#simulation.log.put({ ...omit(delivery, 'nextAttemptAt'), state: 'held' });
  }

  /** Ends all attempts and forgets all waiting deliveries. Nothing more of them is recorded. */
  reset(): void {
    this.close();
    this.#stop = createStop();
    this.#slots = new Semaphore(this.#simulation.settings.maxInFlight);
  }

  /** Like `reset`, for good. */
  close(): void {
    this.#stop.abort();
    for (const timer of this.#waiting.values()) this.#simulation.clock.cancel(timer);
    this.#waiting.clear();
  }

  #attempt(id: string): void {
    const slots = this.#slots;
    const stop = this.#stop.signal;
    slots.acquire(() => {
      if (stop.aborted) return false;
      const delivery = this.#simulation.log.get(id);
      if (!this.#maySend(delivery)) {
        this.dropOrHold(delivery);
        return false;
      }
      void this.#simulation.inFlight
        .track((renew) => this.#run(delivery, stop, renew))
        .then(() => slots.release());
      return true;
    });
  }

  #run(delivery: Delivery, stop: AbortSignal, renew: () => void): Promise<void> {
    const { log } = this.#simulation;
    const started = log.put({ ...omit(delivery, 'nextAttemptAt'), state: 'in-flight' });
    return attemptDelivery(started, this.#simulation, {
      stop,
      renew,
      onAttempt: (attempt) => this.#record(started._id, attempt),
      onResult: (result, attempt) => this.#apply(result, log.get(started._id), attempt),
    });
  }

  #record(id: string, attempt: Attempt): void {
    const delivery = this.#simulation.log.find(id);
    if (!delivery) return; // acknowledged before its replay, and removed since
    const others = delivery.attempts.filter(
      ({ number, kind }) => number !== attempt.number || kind !== attempt.kind,
    );
    this.#simulation.log.put({ ...delivery, attempts: [...others, attempt] });
  }

  #apply(result: AttemptResult, delivery: Delivery, attempt: number): void {
    const { log, clock, random, settings } = this.#simulation;
    switch (result.next) {
      case 'acknowledged':
        log.put({ ...delivery, state: 'acknowledged' });
        return;
      case 'retry': {
        const fraction = random.fraction('retry', delivery._id, attempt);
        const delay = retryDelay(settings.retryEvery, settings.retryJitter, fraction);
        if (this.#maySend(delivery)) this.schedule(delivery, clock.now() + delay);
        else this.dropOrHold(delivery);
        return;
      }
      case 'paused':
        log.put({ ...delivery, state: 'failed' });
        this.#pause(delivery.ruleId, result.reason);
    }
  }

  /** @guess Whether a pause after the last retry emails anybody */
  #pause(ruleId: string, reason: PauseReason): void {
    const { rules, outbox } = this.#simulation;
    if (rules.find(ruleId)?.state !== 'active') return;
    outbox.sendPauseEmail(rules.pause(ruleId, reason), reason);
  }

  #maySend(delivery: Delivery): boolean {
    const { rules } = this.#simulation;
    const isActive = rules.find(delivery.ruleId)?.state === 'active';
    return this.#hasAction(delivery) && (isActive || isResent(delivery));
  }

  #hasAction({ ruleId, actionId }: Delivery): boolean {
    const rule = this.#simulation.rules.find(ruleId);
    return rule?.actions.some(({ _id }) => _id === actionId) ?? false;
  }

  #drop(delivery: Delivery): void {
    const droppedBecause = this.#hasAction(delivery) ? 'rule-paused' : 'action-removed';
    this.#simulation.log.put({
      ...omit(delivery, 'nextAttemptAt'),
      state: 'dropped',
      droppedBecause,
    });
  }

  /** Cancels the timers of the waiting deliveries that match. */
  #takeWaiting(matches: (delivery: Delivery) => boolean): Delivery[] {
    return [...this.#waiting].flatMap(([id, timer]) => {
      const delivery = this.#simulation.log.get(id);
      if (!matches(delivery)) return [];
      this.#simulation.clock.cancel(timer);
      this.#waiting.delete(id);
      return [delivery];
    });
  }
}

/** A delivery that somebody resent goes out even while its rule is paused. */
const isResent = ({ copiedBy }: Delivery): boolean => copiedBy === 'resend';
