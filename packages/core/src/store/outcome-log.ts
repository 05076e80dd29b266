import { invalidCursor } from '../errors.ts';
import type { Outcome } from '../outcomes.ts';

/** What a store knows of an event: done, running, failed so far, or given up with a dead letter. */
export type EventState = 'handled' | 'running' | 'failed' | 'dead-lettered';

type Kept = Omit<Outcome, 'status' | 'storeMs' | 'waitMs' | 'queued' | 'error'>;

/** One outcome, as the log keeps it: ids, redacted as in log lines, codes and durations. */
export interface OutcomeRow extends Readonly<Kept> {
  /**
   * When it ended; milliseconds since the epoch. A process writes it by its own clock, and `read` gives it by
   * the store's clock.
   */
  readonly at: number;
  /** The id of its process, which is in `LogProcess` too. */
  readonly process: string;
  /** Redacted, at most 200 characters. */
  readonly error?: string | undefined;
}

/** A process that writes to the log. */
export interface LogProcess {
  /** Random, new for each receiver and each worker. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** When it started and when it wrote last; milliseconds since the epoch, by its own clock. */
  readonly startedAt: number;
  readonly at: number;
  /** How many deliveries it was handling. */
  readonly inFlight: number;
  /** The version of the user's app: the option `version` of the receiver or the worker. */
  readonly version?: string | undefined;
  /** The `ackWithin` of a receiver; milliseconds. A worker has none. */
  readonly ackWithin?: number | undefined;
  /** How long the store of a receiver knows an event that was handled; milliseconds. */
  readonly rememberFor?: number | undefined;
  /** Set by the last write of a process that was closed in order. */
  readonly closed?: true | undefined;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Counters of one resolution: see `COUNTER_SERIES`. */
export type CounterSeries = 'minutes' | 'times' | 'arrivals';

/**
 * How long one period of a series lasts, and for how long its counters are kept; milliseconds. Periods are
 * numbered since the epoch: period `n` begins at `n * periodMs`. Names are made by `counterName`.
 *
 * - `minutes` counts what ended: `outcome/<source>/<outcome>/<event>`, `late/<source>/<outcome>/<event>` for
 *   the second outcome of a delivery, `rejected/<outcome>/<tenant>` for what could not be verified, `secret/<id>`
 *   for what a secret verified, and `rowsDropped` for rows that did not fit into a batch.
 * - `times` counts durations by `durationBucket`: `deliveryMs/<event>/<bucket>` of deliveries of the service
 *   that were verified, `handlerMs/<event>/<bucket>`, `storeMs/<bucket>` and `lagMs/<bucket>`.
 * - `arrivals` counts events of the service that were acknowledged for the first time: `<event>/<tenant>`.
 *
 * Event and tenant are empty where there is none, and `*` for those beyond the 100 that a process names.
 */
export const COUNTER_SERIES = {
  minutes: { periodMs: MINUTE_MS, keptMs: 50 * HOUR_MS },
  times: { periodMs: 10 * MINUTE_MS, keptMs: 50 * HOUR_MS },
  arrivals: { periodMs: 10 * MINUTE_MS, keptMs: 8 * DAY_MS },
} as const satisfies Readonly<Record<CounterSeries, { periodMs: number; keptMs: number }>>;

/** The names of all series of counters, in the order of `COUNTER_SERIES`. */
export const SERIES_NAMES = Object.keys(COUNTER_SERIES) as CounterSeries[];

/** How much every log keeps, and for how long; durations are milliseconds. */
export const LOG_LIMITS = {
  /** How long rows are kept after the store took them, whatever times they name, so that they answer for "yesterday". */
  rowsMs: 50 * HOUR_MS,
  /** Rows that are no failures. The oldest are dropped first. */
  rows: 20_000,
  /** Failures, which other rows never displace. */
  failures: 10_000,
  processes: 1_000,
  processesMs: 50 * HOUR_MS,
  marks: 2_000,
  marksMs: 30 * DAY_MS,
  /** For how long a batch is known that may be written again. */
  batchMs: HOUR_MS,
} as const;

/** The periods of a series that are kept at a time: the first and the last one. */
export function keptPeriods(series: CounterSeries, now: number): [first: number, last: number] {
  const { periodMs, keptMs } = COUNTER_SERIES[series];
  // Also what is from the future: it was written by a clock that has been corrected since.
  return [Math.ceil((now - keptMs) / periodMs), Math.floor((now + keptMs) / periodMs)];
}

/** Counters by period, and by name. */
export type Counters = Readonly<Record<number, Readonly<Record<string, number>>>>;

/** The name of a counter or a mark: its parts, escaped and joined by `/`, so that a part may be any text. */
export const counterName = (...parts: readonly string[]): string =>
  parts.map(escapedPart).join('/');

/** The parts that a name was made of. */
export const counterParts = (name: string): string[] => {
  const parts = name.split('/');
  // Most names have nothing escaped, and a status reads thousands of them.
  if (!name.includes('%')) return parts;
  return parts.map((part) => part.replaceAll('%2F', '/').replaceAll('%25', '%'));
};

/** A part of a name, as `counterName` has it. */
export const escapedPart = (part: string): string =>
  /[%/]/.test(part) ? part.replaceAll('%', '%25').replaceAll('/', '%2F') : part;

/** Each bucket is about a fifth wider than the one before. */
const BUCKETS_PER_DOUBLING = 4;
/** It ends after about a day, and also has what is longer. */
const LAST_BUCKET = 106;

/** The bucket that a duration is counted in. Bucket `n` ends with `2 ** (n / 4)` milliseconds. */
export function durationBucket(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.min(LAST_BUCKET, Math.ceil(BUCKETS_PER_DOUBLING * Math.log2(ms)));
}

/** The longest duration of a bucket; milliseconds. */
export const bucketEnd = (bucket: number): number => 2 ** (bucket / BUCKETS_PER_DOUBLING);

/**
 * How long a share of durations took at most: the end of the bucket that has the last of them.
 * @param buckets how many durations each bucket has
 * @param share 0.95 for the 95th percentile
 * @returns milliseconds; `undefined` without any durations
 */
export function durationPercentile(
  buckets: ReadonlyMap<number, number>,
  share: number,
): number | undefined {
  const total = [...buckets.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let left = Math.ceil(total * share);
  for (const [bucket, count] of [...buckets].sort(([one], [other]) => one - other))
    if ((left -= count) <= 0) return bucketEnd(bucket);
  return undefined;
}

/** What one process writes at once: at most once a second, and never when nothing ended. */
export interface OutcomeBatch {
  /** Random. A batch that is written again has the same id, and a store takes it once. */
  readonly id: string;
  /** As it is at this attempt to write: `process.at` tells a store how far the clocks are apart. */
  readonly process: LogProcess;
  /** What is no failure, the oldest first, at most 50. The counts are exact, whatever is left out here. */
  readonly rows: readonly OutcomeRow[];
  /** Deliveries and jobs that failed, the oldest first, at most 50. */
  readonly failures: readonly OutcomeRow[];
  /** What to add to the counters of each series; at most about 2,000 counters. */
  readonly counts: Readonly<Partial<Record<CounterSeries, Counters>>>;
  /**
   * When something happened last; milliseconds since the epoch, by the clock of the process. The names are
   * `ack/<tenant>/<event>/<secret>` and `failed/<tenant>/<event>/<secret>` for verified deliveries of the
   * service, and `queue` for a run of a job. The newest time wins.
   */
  readonly marks: Readonly<Record<string, number>>;
}

/** The process of a batch, and what the store's own clock said when it took the batch. */
export interface SeenProcess extends LogProcess {
  /** Milliseconds since the epoch. */
  readonly seenAt: number;
}

/**
 * A process whose clock differs from the store's by less than this has the same clock, for the outcome log;
 * milliseconds. The difference may be the time that a batch took.
 */
export const SAME_CLOCK_MS = 5_000;

/**
 * By how much the clock of a process is ahead of the store's, in milliseconds; negative if it is behind. It is
 * 0 below `SAME_CLOCK_MS`, which may be the time that a batch took.
 * @param at `process.at` of a batch
 * @param seenAt the store's clock when it took the batch
 */
export const clockAhead = (at: number, seenAt: number): number =>
  Math.abs(at - seenAt) < SAME_CLOCK_MS ? 0 : at - seenAt;

/** Which part of the log is read. */
export interface OutcomeLogQuery {
  /** The `before` of the page before; the newest page by default. */
  before?: string | undefined;
  /** How many batches to read at most; 20 by default. */
  batches?: number | undefined;
  /** `failures` leaves out all other rows. */
  only?: 'failures' | undefined;
  /** Rows that ended at this time or later; milliseconds since the epoch, by the store's clock. */
  since?: number | undefined;
  /** Rows that ended at this time or earlier; milliseconds since the epoch, by the store's clock. */
  until?: number | undefined;
}

/**
 * The number of the batch before which a page of the log begins, for logs that number their batches.
 * @returns `undefined` for the first page
 * @throws WebhookError `invalid-cursor`
 */
export function batchBefore(before: unknown): number | undefined {
  if (before === undefined) return undefined;
  const number =
    typeof before === 'string' && /^[1-9]\d{0,15}$/.test(before) ? Number(before) : NaN;
  if (Number.isSafeInteger(number)) return number;
  throw invalidCursor();
}

/** What a store keeps of the rows of a batch that are of one kind. */
export interface KeptRows {
  /** How many there are. */
  readonly count: number;
  /** When the first and the last of them ended. */
  readonly first: number;
  readonly last: number;
  /**
   * The rows as JSON, with the times of their process. As objects, they could hold on to the whole texts that
   * their ids were cut out of.
   */
  readonly rows: string;
}

/**
 * What to keep of the rows of a batch.
 * @param ahead by how much the clock of the process is ahead of the store's, for `first` and `last`; 0 by default
 * @returns nothing without rows
 */
export function keptRows(rows: readonly OutcomeRow[], ahead = 0): KeptRows | undefined {
  if (rows.length === 0) return undefined;
  const times = rows.map(({ at }) => at - ahead);
  return {
    count: rows.length,
    first: Math.min(...times),
    last: Math.max(...times),
    rows: JSON.stringify(rows),
  };
}

/**
 * The rows of one batch by the store's clock, the newest first.
 * @param kept the rows of each kind, failures last, and by how much the clock of their process was ahead
 */
export function rowsOfBatch(
  kept: readonly { rows: string; ahead: number }[],
  { since = -Infinity, until = Infinity }: OutcomeLogQuery,
): OutcomeRow[] {
  return kept
    .flatMap(({ rows, ahead }) => {
      const ofKind = (JSON.parse(rows) as OutcomeRow[]).reverse();
      return ahead === 0 ? ofKind : ofKind.map((row) => ({ ...row, at: row.at - ahead }));
    })
    .filter(({ at }) => at >= since && at <= until)
    .sort((one, other) => other.at - one.at);
}

/**
 * Which rows of an outcome log are erased: those of one of the calls or one of the keys, if any are given, that
 * also have the tenant and the age, if these are given. Without all of them, none.
 */
export interface OutcomeErasure {
  /** The ids of calls, as the service sends them. */
  readonly callIds?: readonly string[] | undefined;
  /** Idempotency keys, as in `Outcome.key`. */
  readonly keys?: readonly string[] | undefined;
  readonly tenant?: string | undefined;
  /** Rows that ended before; milliseconds since the epoch, by the store's clock. */
  readonly before?: number | undefined;
}

/**
 * A bounded log of outcomes, written by every receiver of a store: see `LOG_LIMITS`. No delivery waits for it.
 */
export interface OutcomeLog {
  /**
   * Atomic; a batch whose id is known changes nothing. Rejects with an error that may pass, after which the
   * same batch is appended again. Resolves with `{ refused: error }` for a batch that the log can never take,
   * which is then dropped.
   */
  append(batch: OutcomeBatch): Promise<unknown>;
  /**
   * The newest batches first, and in each the newest rows. A page may have fewer rows than there are, even none:
   * the log goes on as long as there is a `before`.
   * @throws WebhookError `invalid-cursor` for a `before` that the log of such a store never gives
   */
  read(query?: OutcomeLogQuery): Promise<{ rows: OutcomeRow[]; before?: string | undefined }>;
  /**
   * The counters of the periods from `since` to `until`, both included.
   * @param prefix only counters whose names begin with it; all by default
   */
  counts(
    series: CounterSeries,
    since: number,
    until: number,
    prefix?: string,
  ): Promise<Map<number, Record<string, number>>>;
  /** The marks, and what the store's clock says now; milliseconds since the epoch, by the store's clock. */
  marks(): Promise<{ now: number; marks: Record<string, number> }>;
  /** The processes that wrote in the last 50 hours. */
  processes(): Promise<SeenProcess[]>;
  /**
   * Erases rows. Counters, marks and processes have no ids of calls and stay. What running processes have not
   * written yet, at most a second old unless the store is down, is not reached.
   * @returns how many rows were erased
   */
  erase(which: OutcomeErasure): Promise<number>;
}
