import { isPending, type Awaitable } from '../awaitable.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import type { DeliveryInfo } from '../reporting/reporter.ts';
import type { LeaseStore } from '../store/lease.ts';
import type { Admission, Claim } from '../store/store.ts';
import { exponentialBackoff } from '../time/backoff.ts';
import type { Deadline, DeadlineScheduler } from '../time/deadline-scheduler.ts';

/** The part of `ackWithin` in which a delivery may wait: the handler and the store need the rest. */
const WAITING_SHARE = 0.9;
/** Milliseconds between two claims, as long as nobody says that the group is free. */
const BACKOFF = { initialDelay: 50, maxDelay: 500 };

type Waited = Pick<DeliveryInfo, 'waitMs'>;
type ClaimStore = Pick<LeaseStore, 'admit'>;

export interface GroupTurnsOptions {
  readonly scheduler: DeadlineScheduler;
  /** Milliseconds. */
  readonly ackWithin: number;
  /** Whether a delivery may wake another one. On Workers, requests can't. */
  readonly wakes: boolean;
  /** From 0 to 1, for the backoff; `Math.random` by default. */
  readonly random?: (() => number) | undefined;
}

/**
 * Lets deliveries wait until no other event of their group runs: here, where they are woken, or in
 * another process, for which the claim is repeated.
 */
export class GroupTurns {
  readonly #scheduler: DeadlineScheduler;
  readonly #waitingMs: number;
  readonly #wakes: boolean;
  readonly #delay: (attempt: number) => number;
  /** By group, those that came first in front. */
  readonly #waiting = new Map<string, Set<Deadline>>();
  #closing = false;

  constructor({ scheduler, ackWithin, wakes, random }: GroupTurnsOptions) {
    this.#scheduler = scheduler;
    this.#waitingMs = ackWithin * WAITING_SHARE;
    this.#wakes = wakes;
    this.#delay = exponentialBackoff(BACKOFF, random);
  }

  /**
   * Makes a claim, and makes it again while its group is busy.
   * @param startedAt `performance.now()` when the request arrived
   * @param info gets the `waitMs`
   * @throws WebhookError `in-progress` if the group stays busy, `shutting-down` once `close` was called
   */
  admit(claim: Claim, store: ClaimStore, startedAt: number, info: Waited): Awaitable<Admission> {
    const { group } = claim;
    const admission = store.admit(claim);
    if (group === undefined) return admission;
    const waitIfBusy = (answer: Admission) =>
      answer.status === 'group-busy' ? this.#wait(claim, group, store, startedAt, info) : answer;
    return isPending(admission) ? admission.then(waitIfBusy) : waitIfBusy(admission);
  }

  async #wait(
    claim: Claim,
    group: string,
    store: ClaimStore,
    startedAt: number,
    info: Waited,
  ): Promise<Admission> {
    const until = startedAt + this.#waitingMs;
    for (let attempt = 1; performance.now() < until; attempt++) {
      const from = performance.now();
      await this.#pause(group, Math.min(until, from + this.#delay(attempt)));
      info.waitMs = (info.waitMs ?? 0) + performance.now() - from;
      if (this.#closing)
        throw new WebhookError(
          'shutting-down',
          'The receiver closed while the delivery waited for another event of its group (oneAtATime).',
        );
      const admission = await store.admit(claim);
      if (admission.status !== 'group-busy') return admission;
    }
    throw new WebhookError(
      'in-progress',
      `Another event of its group (oneAtATime) was still being handled after ${String(Math.round(this.#waitingMs))} ms. The delivery used up no attempt.`,
    );
  }

  /** Wakes the delivery that waits longest for this group, if there is one. */
  freed(group: string): void {
    if (!this.#wakes) return;
    for (const waiter of this.#waiting.get(group) ?? []) {
      waiter.onReached();
      return;
    }
  }

  /** Ends all waits. */
  close(): void {
    this.#closing = true;
    for (const waiters of [...this.#waiting.values()])
      for (const waiter of [...waiters]) waiter.onReached();
  }

  /** @param at `performance.now()` */
  #pause(group: string, at: number): Promise<void> {
    if (this.#closing) return Promise.resolve();
    const waiters = this.#waiting.get(group) ?? new Set();
    this.#waiting.set(group, waiters);
    return new Promise((resolve) => {
      const waiter: Deadline = {
        place: 0,
        at,
        onReached: () => {
          this.#scheduler.delete(waiter);
          waiters.delete(waiter);
          if (waiters.size === 0) this.#waiting.delete(group);
          resolve();
        },
      };
      waiters.add(waiter);
      this.#scheduler.add(waiter);
    });
  }
}
