import type { InFlightRequests } from '../clock/in-flight-requests.ts';
import type { Timer } from '../clock/timers.ts';
import { omit } from '../omit.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { PauseReason, Rule } from '../rules/rule.ts';
import { attemptDelivery, createStop, type AttemptDeps } from './attempt-delivery.ts';
import { retryDelay } from './attempt-result.ts';
import { interrupted, type DeliveryLog } from './delivery-log.ts';
import type { Attempt, AttemptResult, Delivery } from './delivery.ts';
import { Semaphore } from './semaphore.ts';

interface Deps extends AttemptDeps {
  readonly log: DeliveryLog;
  readonly outbox: Outbox;
  readonly inFlight: InFlightRequests;
  readonly policy: AttemptDeps['policy'] & {
    /** Milliseconds of the simulator's clock. */
    readonly retryEvery: number;
    /** The largest deviation of a retry, as a fraction of `retryEvery`. */
    readonly retryJitter: number;
    readonly whilePaused: 'drop' | 'hold';
    readonly maxInFlight: number;
  };
}

/** Sends deliveries when they are due, retries them, and pauses rules. */
export class DeliveryScheduler {
  readonly #deps: Deps;
  readonly #waiting = new Map<string, Timer>();
  #slots: Semaphore;
  #stop = createStop();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#slots = new Semaphore(deps.policy.maxInFlight);
  }

  /** Sends a delivery at a time of the simulator's clock, or now if that has passed. */
  schedule(delivery: Delivery, at: number): void {
    const { clock, log } = this.#deps;
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
  onRuleResumed(rule: Rule): void {
    const { log, clock } = this.#deps;
    for (const delivery of log.list({ ruleId: rule._id, state: 'held' }))
      this.schedule(delivery, clock.now());
  }

  /** Drops the waiting and held deliveries of actions that no longer exist. Attempts in flight go on. */
  onActionsRemoved(ruleId: string): void {
    const isGone = (one: Delivery) => one.ruleId === ruleId && !this.#hasAction(one);
    for (const delivery of this.#takeWaiting(isGone)) this.#drop(delivery);
    for (const delivery of this.#deps.log.list({ ruleId, state: 'held' }))
      if (isGone(delivery)) this.#drop(delivery);
  }

  /** Drops a delivery whose rule is paused, or holds it until the rule is resumed. */
  dropOrHold(delivery: Delivery): void {
    const hold =
      this.#deps.policy.whilePaused === 'hold' && !isResent(delivery) && this.#hasAction(delivery);
    if (!hold) this.#drop(delivery);
    else this.#deps.log.put({ ...omit(delivery, 'nextAttemptAt'), state: 'held' });
  }

  /**
   * Continues with the deliveries of a snapshot. The response of an attempt that was in flight is
   * unknown: it counts as a connection error, and the delivery is attempted again at once.
   */
  resume(): void {
    const { log, clock } = this.#deps;
    for (const delivery of log.list()) {
      if (delivery.state === 'waiting') this.schedule(delivery, delivery.nextAttemptAt ?? 0);
      if (delivery.state === 'in-flight') this.schedule(interrupted(delivery), clock.now());
    }
  }

  /** Ends all attempts and forgets all waiting deliveries. Nothing more of them is recorded. */
  reset(): void {
    this.close();
    this.#stop = createStop();
    this.#slots = new Semaphore(this.#deps.policy.maxInFlight);
  }

  /** Like `reset`, for good. */
  close(): void {
    this.#stop.abort();
    for (const timer of this.#waiting.values()) timer.cancel();
    this.#waiting.clear();
  }

  #attempt(id: string): void {
    const slots = this.#slots;
    const stop = this.#stop.signal;
    slots.acquire(() => {
      if (stop.aborted) return false;
      const delivery = this.#deps.log.get(id);
      if (!this.#maySend(delivery)) {
        this.dropOrHold(delivery);
        return false;
      }
      void this.#deps.inFlight
        .track((renew) => this.#run(delivery, stop, renew))
        .then(() => slots.release());
      return true;
    });
  }

  #run(delivery: Delivery, stop: AbortSignal, renew: () => void): Promise<void> {
    const { log } = this.#deps;
    const started = log.put({ ...omit(delivery, 'nextAttemptAt'), state: 'in-flight' });
    return attemptDelivery(started, this.#deps, {
      stop,
      renew,
      onAttempt: (attempt) => this.#record(started._id, attempt),
      onResult: (result, attempt) => this.#apply(result, log.get(started._id), attempt),
    });
  }

  #record(id: string, attempt: Attempt): void {
    const delivery = this.#deps.log.get(id);
    const others = delivery.attempts.filter(
      ({ number, kind }) => number !== attempt.number || kind !== attempt.kind,
    );
    this.#deps.log.put({ ...delivery, attempts: [...others, attempt] });
  }

  #apply(result: AttemptResult, delivery: Delivery, attempt: number): void {
    const { log, clock, random, policy } = this.#deps;
    switch (result.next) {
      case 'acknowledged':
        log.put({ ...delivery, state: 'acknowledged' });
        return;
      case 'retry': {
        const fraction = random.fraction('retry', delivery._id, attempt);
        const delay = retryDelay(policy.retryEvery, policy.retryJitter, fraction);
        if (this.#maySend(delivery)) this.schedule(delivery, clock.now() + delay);
        else this.dropOrHold(delivery);
        return;
      }
      case 'paused':
        log.put({ ...delivery, state: 'failed' });
        this.#pause(delivery.ruleId, result.reason);
    }
  }

  /** @guess Whether a pause after the last retry e-mails anybody */
  #pause(ruleId: string, reason: PauseReason): void {
    const { rules, outbox, clock } = this.#deps;
    if (rules.find(ruleId)?.state !== 'active') return;
    outbox.sendPauseEmail(rules.pause(ruleId, reason), reason, clock.now());
  }

  #maySend(delivery: Delivery): boolean {
    const { rules } = this.#deps;
    const isActive = rules.find(delivery.ruleId)?.state === 'active';
    return this.#hasAction(delivery) && (isActive || isResent(delivery));
  }

  #hasAction({ ruleId, actionId }: Delivery): boolean {
    const rule = this.#deps.rules.find(ruleId);
    return rule?.actions.some(({ _id }) => _id === actionId) ?? false;
  }

  #drop(delivery: Delivery): void {
    this.#deps.log.put({ ...omit(delivery, 'nextAttemptAt'), state: 'dropped' });
  }

  /** Cancels the timers of the waiting deliveries that match. */
  #takeWaiting(matches: (delivery: Delivery) => boolean): Delivery[] {
    return [...this.#waiting].flatMap(([id, timer]) => {
      const delivery = this.#deps.log.get(id);
      if (!matches(delivery)) return [];
      timer.cancel();
      this.#waiting.delete(id);
      return [delivery];
    });
  }
}

/** A delivery that somebody resent goes out even while its rule is paused. */
const isResent = ({ copiedBy }: Delivery): boolean => copiedBy === 'resend';
