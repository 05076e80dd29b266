import type { Timer } from '../clock/clock.ts';
import type { InFlightRequests } from '../clock/in-flight-requests.ts';
import type { Outbox } from '../outbox.ts';
import { omit } from '../records.ts';
import type { PauseReason } from '../rules/rule.ts';
import { type AttemptParts, makeAttempt, createStop, retryDelay } from './attempt.ts';
import type { Attempt, AttemptResult, WebhookEvent } from './webhook-event.ts';
import type { EventLog } from './log.ts';

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
  readonly log: EventLog;
  readonly outbox: Outbox;
}

/** Sends events when they are due, retries them, and pauses rules. */
export class EventScheduler {
  readonly #simulation: Parts;
  readonly #waiting = new Map<string, Timer>();
  #slots: Semaphore;
  #stop = createStop();

  constructor(simulation: Parts) {
    this.#simulation = simulation;
    this.#slots = new Semaphore(simulation.settings.maxInFlight);
  }

  /** Sends an event at a time of the simulator's clock, or now if that has passed. */
  schedule(event: WebhookEvent, at: number): void {
    const { clock, log } = this.#simulation;
    const { _id } = log.put({ ...event, state: 'waiting', nextAttemptAt: at });
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

  /** Drops or holds the waiting events of a rule. Attempts in flight go on. */
  onRulePaused(ruleId: string): void {
    for (const event of this.#takeWaiting((one) => one.ruleId === ruleId && !isResent(one)))
      this.dropOrHold(event);
  }

  /** Sends the events that were held while the rule was paused. */
  onRuleResumed(ruleId: string): void {
    const { log, clock } = this.#simulation;
    for (const event of log.list({ ruleId, state: 'held' })) this.schedule(event, clock.now());
  }

  /** Drops the waiting and held events of actions that no longer exist. Attempts in flight go on. */
  onActionsRemoved(ruleId: string): void {
    const isGone = (one: WebhookEvent) => one.ruleId === ruleId && !this.#hasAction(one);
    for (const event of this.#takeWaiting(isGone)) this.#drop(event);
    for (const event of this.#simulation.log.list({ ruleId, state: 'held' }))
      if (isGone(event)) this.#drop(event);
  }

  /** Drops an event whose rule is paused, or holds it until the rule is resumed. */
  dropOrHold(event: WebhookEvent): void {
    const hold =
      this.#simulation.settings.whilePaused === 'hold' &&
      !isResent(event) &&
      this.#hasAction(event);
    if (!hold) this.#drop(event);
    else this.#simulation.log.put({ ...omit(event, 'nextAttemptAt'), state: 'held' });
  }

  /** Ends all attempts and forgets all waiting events. Nothing more of them is recorded. */
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
      const event = this.#simulation.log.get(id);
      if (!this.#maySend(event)) {
        this.dropOrHold(event);
        return false;
      }
      void this.#simulation.inFlight.track(async (renew) => {
        await this.#run(event, stop, renew);
        // The next one starts before this one has ended, so that nobody finds nothing in flight in between.
        slots.release();
      });
      return true;
    });
  }

  #run(event: WebhookEvent, stop: AbortSignal, renew: () => void): Promise<void> {
    const { log } = this.#simulation;
    const started = log.put({ ...omit(event, 'nextAttemptAt'), state: 'in-flight' });
    return makeAttempt(started, this.#simulation, {
      stop,
      renew,
      onAttempt: (attempt) => this.#record(started._id, attempt),
      onResult: (result, attempt) => this.#apply(result, log.get(started._id), attempt),
    });
  }

  #record(id: string, attempt: Attempt): void {
    const event = this.#simulation.log.find(id);
    if (!event) return; // acknowledged before its replay, and removed since
    const others = event.attempts.filter(
      ({ number, kind }) => number !== attempt.number || kind !== attempt.kind,
    );
    this.#simulation.log.put({ ...event, attempts: [...others, attempt] });
  }

  #apply(result: AttemptResult, event: WebhookEvent, attempt: number): void {
    const { log, clock, random, settings } = this.#simulation;
    switch (result.next) {
      case 'acknowledged':
        log.put({ ...event, state: 'acknowledged' });
        return;
      case 'retry': {
        const fraction = random.fraction('retry', event._id, attempt);
        const delay = retryDelay(settings.retryEvery, settings.retryJitter, fraction);
        if (this.#maySend(event)) this.schedule(event, clock.now() + delay);
        else this.dropOrHold(event);
        return;
      }
      case 'paused':
        log.put({ ...event, state: 'failed' });
        this.#pause(event.ruleId, result.reason);
    }
  }

  /** @guess Whether a pause after the last retry emails anybody */
  #pause(ruleId: string, reason: PauseReason): void {
    const { rules, outbox } = this.#simulation;
    if (rules.find(ruleId)?.state !== 'active') return;
    outbox.sendPauseEmail(rules.pause(ruleId, reason), reason);
  }

  #maySend(event: WebhookEvent): boolean {
    const { rules } = this.#simulation;
    const isActive = rules.find(event.ruleId)?.state === 'active';
    return this.#hasAction(event) && (isActive || isResent(event));
  }

  #hasAction({ ruleId, actionId }: WebhookEvent): boolean {
    const rule = this.#simulation.rules.find(ruleId);
    return rule?.actions.some(({ _id }) => _id === actionId) ?? false;
  }

  #drop(event: WebhookEvent): void {
    const droppedBecause = this.#hasAction(event) ? 'rule-paused' : 'action-removed';
    this.#simulation.log.put({
      ...omit(event, 'nextAttemptAt'),
      state: 'dropped',
      droppedBecause,
    });
  }

  /** Cancels the timers of the waiting events that match. */
  #takeWaiting(matches: (event: WebhookEvent) => boolean): WebhookEvent[] {
    return [...this.#waiting].flatMap(([id, timer]) => {
      const event = this.#simulation.log.get(id);
      if (!matches(event)) return [];
      this.#simulation.clock.cancel(timer);
      this.#waiting.delete(id);
      return [event];
    });
  }
}

/** An event that was resent by hand is sent even while its rule is paused. */
const isResent = ({ copiedBy }: WebhookEvent): boolean => copiedBy === 'resend';
