import { hostname } from 'node:os';
import { WebhookError } from '@call-webhooks/core';
import {
  checkOptions,
  docsUrl,
  loggedError,
  option,
  waitAtMost,
} from '@call-webhooks/core/internal';
import { Collector } from './collector.ts';
import { CountSeries, DAY, HOUR } from './series.ts';
import { Sharing } from './sharing.ts';
import type { StatsStore } from './slot.ts';
import { withTimeout } from '../with-timeout.ts';
import type { SlotContent } from './slot-content.ts';

/** Options of `consoleStats`. */
export interface ConsoleStatsOptions {
  /**
   * A store that several processes share, such as `redisStore`, `postgresStore` or `sqliteStore`: the
   * console then shows all of them, each and in sum. Without it, each process shows itself.
   */
  store?: StatsStore | undefined;
  /** Receivers with different names in one store are counted apart; `'console'` by default. */
  name?: string | undefined;
  /** How often the counts are written to `store`; milliseconds, 10,000 by default. */
  every?: number | undefined;
  /** How many of the latest deliveries are kept in memory: 1 to 100,000; 1,000 by default. */
  capacity?: number | undefined;
  /** The clock; milliseconds since the epoch, `Date.now` by default. */
  now?: (() => number) | undefined;
}

/** Counts what the receivers and workers of this process do. */
export interface ConsoleStats {
  /** Writes the counts to the store now. Rejects if the store fails. Does nothing without one. */
  flush(): Promise<void>;
  /** Stops counting, and writes the last counts. Never rejects; it takes at most a second. */
  close(): Promise<void>;
}

/** What all processes counted, and why others are missing. */
export interface SharedView {
  readonly contents: readonly SlotContent[];
  readonly scope: 'process' | 'shared';
  readonly error?: string;
}

const rules = () => ({
  store: option.optional(
    option.object<StatsStore>('admit', 'extend', 'release', 'loadCursor', 'saveCursor'),
  ),
  name: option.default(
    option.text(/^[\w-]{1,50}$/, 'expected 1 to 50 letters and digits'),
    'console',
  ),
  every: option.default(option.milliseconds(1_000, 60_000), 10_000),
  capacity: option.default(option.count(1, 100_000), 1_000),
  now: option.default(option.function<() => number>(), () => () => Date.now()),
});

type StatsSettings = ReturnType<typeof checked>;

const DOCS = docsUrl('console.md#several-processes');
const NO_STORE =
  'store is missing. Pass the store of the receiver, which the processes share. To count one process alone, leave out the option stats of createConsole.';

const checked = (options: ConsoleStatsOptions) =>
  checkOptions('consoleStats', rules(), options, DOCS);

/** How long the shared store may take; milliseconds. */
const STORE_MS = 2_000;
/** How long what was read from the shared store is used; milliseconds. */
const KEPT_MS = 5_000;

/**
 * Counts what all receivers and workers of this process do, for the option `stats` of `createConsole`.
 * A process without a console, such as a worker, calls it to be counted in the console of others.
 * @throws WebhookError `invalid-options`; also without `store` and `capacity`, since a console counts its own
 *   process without this
 * @example
 * const stats = consoleStats({ store }); // the store of the receiver, which all processes share
 */
export function consoleStats(options: ConsoleStatsOptions): ConsoleStats {
  const settings = checked(options);
  const { capacity } = (options as ConsoleStatsOptions | undefined) ?? {};
  if (!settings.store && capacity === undefined)
    throw new WebhookError('invalid-options', `consoleStats: ${NO_STORE}`, { docs: DOCS });
  return new ProcessStats(settings);
}

/** @internal The statistics behind `ConsoleStats`. */
export class ProcessStats implements ConsoleStats {
  readonly collector: Collector;
  readonly now: () => number;
  readonly process: SlotContent['process'];
  readonly #sharing: Sharing | undefined;
  readonly #every: number;
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  #saving: Promise<void> | undefined;
  #savedAt = -Infinity;
  #view: { at: number; view: Promise<SharedView> } | undefined;

  constructor({ store, name, every, capacity, now }: StatsSettings) {
    this.now = now;
    this.#every = every;
    this.collector = new Collector(capacity, now);
    const { pid } = process;
    const id = crypto.randomUUID().slice(0, 8);
    this.process = { id, host: hostname().slice(0, 200), pid, startedAt: now() };
    if (!store) return;
    const inFlight = () => this.collector.inFlight;
    const sharing = new Sharing({ store, name, process: this.process, now, inFlight });
    this.#sharing = sharing;
    this.collector.onOutcome((outcome, at) => {
      sharing.add(outcome, at);
    });
    this.#timer = setInterval(() => void this.flush().catch(ignore), every);
    this.#timer.unref();
  }

  static ofThisProcess(now: () => number): ProcessStats {
    return new ProcessStats(checked({ now }));
  }

  flush(): Promise<void> {
    if (!this.#sharing) return Promise.resolve();
    this.#saving ??= this.#sharing
      .save()
      .then(() => void (this.#savedAt = this.now()))
      .finally(() => (this.#saving = undefined));
    return this.#saving;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.collector.close();
    if (this.#sharing) await waitAtMost(1_000, this.#sharing.close());
  }

  /** Asks the shared store at most every 5 seconds. Never rejects. */
  view(): Promise<SharedView> {
    if (!this.#sharing) return Promise.resolve({ contents: [this.own], scope: 'process' });
    const now = this.now();
    const age = this.#view ? now - this.#view.at : Infinity;
    // A clock that was set back must not keep an old answer.
    if (!this.#view || age < 0 || age >= KEPT_MS)
      this.#view = { at: now, view: this.#load(this.#sharing) };
    return this.#view.view;
  }

  /** This process alone, as it is now. */
  get own(): SlotContent {
    const { hour, day, inFlight } = this.collector;
    return {
      process: this.process,
      seenAt: this.now(),
      inFlight,
      hour: { own: hour, before: new CountSeries(HOUR) },
      day: { own: day, before: new CountSeries(DAY) },
    };
  }

  async #load(sharing: Sharing): Promise<SharedView> {
    try {
      // Where a function is frozen between requests, no timer runs.
      const age = this.now() - this.#savedAt;
      const isDue = age < 0 || age >= this.#every;
      const loading = (isDue ? this.flush() : Promise.resolve()).then(() => sharing.load());
      const contents = await withTimeout(loading, STORE_MS);
      return { contents, scope: 'shared' };
    } catch (error) {
      return { contents: [this.own], scope: 'process', error: loggedError(error).text };
    }
  }
}

const ignore = () => undefined;
