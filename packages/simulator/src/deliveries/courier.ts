import type { Timer } from '../clock/timers.ts';
import type { Rule } from '../rules/rule.ts';
import { without } from '../without.ts';
import type { CourierParts } from './courier-parts.ts';
import type { Attempt, Delivery } from './delivery.ts';
import { fly } from './flight.ts';
import { InLine } from './in-line.ts';
import { retryDelay, type Verdict } from './verdict.ts';

/** Brings deliveries to their receivers, and does what the state machine says. */
export class Courier {
  readonly #parts: CourierParts;
  readonly #waiting = new Map<string, Timer>();
  #line: InLine;
  #stop = new AbortController();

  constructor(parts: CourierParts) {
    this.#parts = parts;
    this.#line = new InLine(parts.policy.maxInFlight);
  }

  /** Sends a delivery when its time has come; at once if that is now. */
  dispatch(delivery: Delivery, at: number): void {
    const { clock, log } = this.#parts;
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

  /** Stops everything of a rule that waits to be sent. What is in flight is waited for. */
  rulePaused(ruleId: string): void {
    for (const [id, timer] of this.#waiting) {
      const delivery = this.#parts.log.get(id);
      if (delivery.ruleId !== ruleId || delivery.copiedBy === 'resend') continue;
      timer.cancel();
      this.#waiting.delete(id);
      this.leave(delivery);
    }
  }

  /** Sends what was held back while the rule was paused. */
  ruleResumed(rule: Rule): void {
    const { log, clock } = this.#parts;
    for (const delivery of log.list({ ruleId: rule._id, state: 'held' }))
      this.dispatch(delivery, clock.now());
  }

  /** What becomes of a delivery whose rule is paused. */
  leave(delivery: Delivery): void {
    const held = this.#parts.policy.whilePaused === 'hold' && delivery.copiedBy !== 'resend';
    this.#parts.log.put({
      ...without(delivery, 'nextAttemptAt'),
      state: held ? 'held' : 'dropped',
    });
  }

  /**
   * Goes on with what a snapshot holds. What became of an attempt that was in flight is not known:
   * it counts as a connection that broke, and the delivery is tried anew, at once.
   */
  takeUp(): void {
    const { log, clock } = this.#parts;
    for (const delivery of log.list()) {
      if (delivery.state === 'waiting') this.dispatch(delivery, delivery.nextAttemptAt ?? 0);
      if (delivery.state === 'in-flight') this.dispatch(interrupted(delivery), clock.now());
    }
  }

  /** Ends all attempts and forgets everything that waits. Nothing of them is recorded any more. */
  abandonAll(): void {
    this.close();
    this.#stop = new AbortController();
    this.#line = new InLine(this.#parts.policy.maxInFlight);
  }

  /** The same, for good: nothing is sent any more. */
  close(): void {
    this.#stop.abort();
    for (const timer of this.#waiting.values()) timer.cancel();
    this.#waiting.clear();
  }

  #attempt(id: string): void {
    const line = this.#line;
    const stop = this.#stop.signal;
    line.enter(() => {
      if (stop.aborted) return false;
      const delivery = this.#parts.log.get(id);
      if (!this.#maySend(delivery)) {
        this.leave(delivery);
        return false;
      }
      void this.#parts.inFlight
        .track((renew) => this.#fly(delivery, stop, renew))
        .then(() => line.leave());
      return true;
    });
  }

  #maySend({ copiedBy, ruleId }: Delivery): boolean {
    return copiedBy === 'resend' || this.#parts.rules.get(ruleId).state === 'active';
  }

  #fly(delivery: Delivery, stop: AbortSignal, renew: () => void): Promise<void> {
    const { log } = this.#parts;
    const started = log.put({ ...without(delivery, 'nextAttemptAt'), state: 'in-flight' });
    return fly(started, this.#parts, {
      stop,
      renew,
      onAttempt: (attempt) => this.#record(started._id, attempt),
      onVerdict: (verdict, attempt) => this.#apply(verdict, log.get(started._id), attempt),
    });
  }

  #record(id: string, attempt: Attempt): void {
    const delivery = this.#parts.log.get(id);
    const others = delivery.attempts.filter(
      ({ number, kind }) => number !== attempt.number || kind !== attempt.kind,
    );
    this.#parts.log.put({ ...delivery, attempts: [...others, attempt] });
  }

  #apply(verdict: Verdict, delivery: Delivery, attempt: number): void {
    const { log, clock, draws, policy } = this.#parts;
    switch (verdict.next) {
      case 'acknowledged':
        log.put({ ...delivery, state: 'acknowledged' });
        return;
      case 'retry': {
        const fraction = draws.fraction('retry', delivery._id, attempt);
        const delay = retryDelay(policy.retryEvery, policy.retryJitter, fraction);
        if (this.#maySend(delivery)) this.dispatch(delivery, clock.now() + delay);
        else this.leave(delivery);
        return;
      }
      case 'paused':
        log.put({ ...delivery, state: 'failed' });
        this.#pause(delivery.ruleId, verdict.because);
    }
  }

  #pause(ruleId: string, because: 'answered-404' | 'last-attempt-failed'): void {
    const { rules, outbox, clock } = this.#parts;
    if (rules.get(ruleId).state === 'paused') return;
    outbox.tellOfPause(rules.pause(ruleId, because), because, clock.now());
  }
}

const INTERRUPTED = { kind: 'connection-error', code: 'ECONNABORTED' } as const;

function interrupted(delivery: Delivery): Delivery {
  const attempts = delivery.attempts.map((attempt) =>
    attempt.answer ? attempt : { ...attempt, answer: INTERRUPTED },
  );
  return { ...delivery, attempts };
}
