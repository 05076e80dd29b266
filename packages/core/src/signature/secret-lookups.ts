import { TimeoutError, type DeadlineScheduler } from '../time/deadline-scheduler.ts';
import {
  PROVIDER_TIMEOUT_MS,
  type ProvidedSecret,
  type SecretProvider,
} from './secret-provider.ts';

/** How many lookups may be wasted in one go. */
const BURST = 1_000;
/** How many more with each second. */
const PER_SECOND = 50;
/** How many calls run at the same time. */
const MAX_RUNNING = 100;
/** How many calls may wait. */
const MAX_WAITING = 20_000;

/** The provider was not called: too many lookups were wasted. */
export const REFUSED = Symbol();

/**
 * Bounds how often strangers can make the receiver ask for secrets. A lookup is wasted unless a
 * delivery is verified with its answer, and only senders of real tenants can achieve that.
 */
class LookupBudget {
  #left = BURST;
  #at = performance.now();

  /** @returns `false` if too many lookups were wasted */
  take(): boolean {
    const now = performance.now();
    this.#left = Math.min(BURST, this.#left + ((now - this.#at) / 1_000) * PER_SECOND);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** A lookup was not wasted. */
  giveBack(): void {
    this.#left += 1;
  }
}

/** Runs a limited number of calls at the same time; the others wait in order. */
class CallQueue {
  #running = 0;
  readonly #waiting = new Set<() => void>();

  get full(): boolean {
    return this.#waiting.size >= MAX_WAITING;
  }

  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#running < MAX_RUNNING) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.add(resolve));
    try {
      return await call();
    } finally {
      this.#next();
    }
  }

  /** The place of a call that ended goes to the one that waits longest. */
  #next(): void {
    for (const start of this.#waiting) {
      this.#waiting.delete(start);
      start();
      return;
    }
    this.#running -= 1;
  }
}

/** Calls the provider of the secrets of many tenants, within bounds that strangers can't exceed. */
export class SecretLookups {
  readonly #provider: SecretProvider;
  readonly #scheduler: DeadlineScheduler;
  readonly #budget = new LookupBudget();
  readonly #queue = new CallQueue();

  constructor(provider: SecretProvider, scheduler: DeadlineScheduler) {
    this.#provider = provider;
    this.#scheduler = scheduler;
  }

  /**
   * Rejects if the provider fails, or does not answer in time.
   * @param isPaid whether the budget pays for it
   */
  async ask(
    request: Parameters<SecretProvider>[0],
    isPaid: boolean,
  ): Promise<ProvidedSecret | typeof REFUSED> {
    if (this.#queue.full) return REFUSED;
    const startedAt = performance.now();
    const call = async () => {
      if (performance.now() - startedAt >= PROVIDER_TIMEOUT_MS)
        throw new TimeoutError(PROVIDER_TIMEOUT_MS);
      // Not before its turn: until then, those before it may have given back what they took.
      if (isPaid && !this.#budget.take()) return REFUSED;
      const answer = (async () => this.#provider(request))();
      return this.#scheduler.withTimeout(PROVIDER_TIMEOUT_MS, answer);
    };
    return this.#scheduler.withTimeout(PROVIDER_TIMEOUT_MS, this.#queue.run(call));
  }

  /** A lookup that was paid for has verified a delivery. */
  giveBack(): void {
    this.#budget.giveBack();
  }
}
