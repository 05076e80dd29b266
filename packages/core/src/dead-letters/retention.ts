import { apartFromRequests, sharesTimers } from '#platform';
import { docsUrl } from '../errors.ts';
import type { ExpiringLetters } from '../removal.ts';
import type { Queue } from '../queue.ts';
import { loggedError } from '../report/error-text.ts';
import { type Logger, safeLogger } from '../report/logger.ts';
import type { Redact } from '../report/redact.ts';
import { Deadlines, RELEASE_MS, waitAtMost } from '../time.ts';

/** How often a process looks for what has expired; milliseconds. */
const LOOK_EVERY_MS = 60_000;
/** A process that does not look for so long loses its turn; milliseconds. */
const LEASE_MS = 150_000;
/** How many are removed at once: a delivery that waits for the database waits for so many at most. */
const BATCH = 100;
/** A batch that takes longer has failed; milliseconds. */
const BATCH_WITHIN_MS = 30_000;
/** The shortest pause between two batches; milliseconds. */
const MIN_PAUSE_MS = 50;
/** How many times as long as a batch took the pause after it is. */
const PAUSE_RATIO = 9;

/** The stores whose letters or jobs expire, by the name that log lines use. */
export type KeptLetters = Readonly<Partial<Record<'dead letters' | 'dead jobs', unknown>>>;

/** What a removal needs of a receiver or a worker. */
export interface RetentionOptions {
  logger: Logger;
  /** What is removed from errors in log lines; `'standard'` by default. */
  redact?: Redact | undefined;
  /**
   * The clock that dates dead letters, in milliseconds since the epoch; `Date.now` by default. Dead jobs are
   * dated by their queue.
   */
  now?: (() => number) | undefined;
  /** How often to look for expired letters or jobs, in milliseconds; 60,000 by default. */
  lookEvery?: number | undefined;
}

/** A running removal. */
export interface Retention {
  /** Ends it. Waits for a batch that is under way, for a second at most. Never rejects. */
  close(): Promise<void>;
}

/**
 * Removes dead letters and dead jobs whose `keepFor` is over, as long as its process is running: it
 * looks every minute, and uses about a tenth of the time of one connection. Its timers do not keep the
 * process alive. A receiver starts one for its `deadLetter` and its `queue`, and a worker for its
 * `deadLetter`.
 * @returns `undefined` if nothing expires, or on a runtime whose timers end with a request
 * @example
 * const retention = startRetention({ 'dead jobs': queue }, { logger: console });
 * await retention?.close();
 */
export function startRetention(
  kept: KeptLetters,
  options: RetentionOptions,
): Retention | undefined {
  if (!sharesTimers) return undefined;
  const removals = Object.entries(kept)
    .filter((entry): entry is [string, Expiring] => expires(entry[1]))
    .map(([name, letters]) => new Removal(name, letters, clockOf(name, letters, options), options));
  if (removals.length === 0) return undefined;
  return {
    async close() {
      await Promise.all(removals.map((removal) => removal.close()));
    },
  };
}

type Expiring = Required<ExpiringLetters> & Pick<Queue, 'now'> & { readonly keepFor: number };

function expires(kept: unknown): kept is Expiring {
  const letters = Object(kept) as Partial<Expiring>;
  return Number(letters.keepFor) > 0 && typeof letters.removeExpired === 'function';
}

/** The clock that dated what is removed: another one would remove it too early or too late. */
function clockOf(name: string, letters: Expiring, { now }: RetentionOptions): () => number {
  const own = () => letters.now?.() ?? Date.now();
  return name === 'dead jobs' ? own : (now ?? (() => Date.now()));
}

class Removal {
  readonly #name: string;
  readonly #letters: Expiring;
  readonly #log: Required<Logger>;
  readonly #redact: Redact | undefined;
  readonly #now: () => number;
  readonly #lookEvery: number;
  readonly #token = crypto.randomUUID();
  readonly #deadlines = new Deadlines();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  /** Set while a look fails, so that an outage is logged once. */
  #hasFailed = false;
  #isClosed = false;
  #endPause: () => void = () => undefined;

  constructor(name: string, letters: Expiring, now: () => number, options: RetentionOptions) {
    const { logger, redact, lookEvery = LOOK_EVERY_MS } = options;
    this.#name = name;
    this.#letters = letters;
    this.#log = safeLogger(logger);
    this.#redact = redact;
    this.#now = now;
    this.#lookEvery = lookEvery;
    this.#wait();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#endPause();
    if (this.#running) await waitAtMost(RELEASE_MS, this.#running);
  }

  #wait(): void {
    this.#timer = unrefed(
      setTimeout(
        apartFromRequests(() => {
          this.#running = this.#look().finally(() => {
            this.#running = undefined;
            if (!this.#isClosed) this.#wait();
          });
        }),
        this.#lookEvery,
      ),
    );
  }

  /** Removes all that has expired, in batches. Never rejects. */
  async #look(): Promise<void> {
    const { keepFor } = this.#letters;
    let count = 0;
    try {
      while (!this.#isClosed) {
        const startedAt = performance.now();
        const before = new Date(this.#now() - keepFor);
        const turn = { before, limit: BATCH, token: this.#token, leaseMs: LEASE_MS };
        const removing = this.#letters.removeExpired(turn);
        const removed = await this.#deadlines.withTimeout(BATCH_WITHIN_MS, removing);
        count += removed ?? 0;
        if (!removed) break;
        await this.#pause(PAUSE_RATIO * (performance.now() - startedAt));
      }
      this.#hasFailed = false;
    } catch (error) {
      this.#logFailure(error);
    }
    if (count === 0) return;
    this.#log.info(
      { removed: count, keepFor, docs: DOCS },
      `call-webhooks: removed ${String(count)} ${this.#name} whose last failure was longer ago than keepFor.`,
    );
  }

  /** Deliveries come first. */
  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = unrefed(setTimeout(resolve, Math.max(MIN_PAUSE_MS, ms)));
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #logFailure(error: unknown): void {
    if (this.#hasFailed || this.#isClosed) return;
    this.#hasFailed = true;
    const { text, err } = loggedError(error, this.#redact);
    this.#log.warn(
      { err, docs: DOCS },
      `call-webhooks: expired ${this.#name} could not be removed. The next attempt is in a minute: ${text}`,
    );
  }
}

const DOCS = docsUrl('personal-data.md#how-long-it-is-kept');

/** In browsers and jsdom, a timer is a number. */
function unrefed(timer: ReturnType<typeof setTimeout>): ReturnType<typeof setTimeout> {
  if (typeof timer === 'object') timer.unref();
  return timer;
}
