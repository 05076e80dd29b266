import { invalidCursor } from '../errors.ts';
import type { Outcome } from '../outcomes.ts';

/** What a store knows of an event: done, running, failed so far, or given up with a dead letter. */
export type EventState = 'handled' | 'running' | 'failed' | 'dead-lettered';

type Kept = Omit<Outcome, 'status' | 'storeMs' | 'waitMs' | 'queued' | 'error'>;

/** One outcome, as the log keeps it: ids, redacted as in log lines, codes and durations. */
export interface OutcomeRow extends Readonly<Kept> {
  /** When it ended; milliseconds since the epoch, by the clock of its process. */
  readonly at: number;
  /** The id of its process, which is in `LogProcess` too. */
  readonly process: string;
  /** Redacted, at most 200 characters. */
  readonly error?: string | undefined;
}

/** A process that writes to the log. */
export interface LogProcess {
  /** Random, new for each receiver. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** When it started and when it wrote last; milliseconds since the epoch, by its own clock. */
  readonly startedAt: number;
  readonly at: number;
  /** How many deliveries it was handling. */
  readonly inFlight: number;
  /** Set by the last write of a process that was closed in order. */
  readonly closed?: true | undefined;
}

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

/** What one process writes at once: at most once a second, and never when nothing ended. */
export interface OutcomeBatch {
  /** Random. A batch that is written again has the same id, and a store takes it once. */
  readonly id: string;
  readonly process: LogProcess;
  /** The oldest first, at most 50. The counts are exact, whatever is left out here. */
  readonly rows: readonly OutcomeRow[];
  /**
   * What to add to the counters of each minute (of the epoch). The names are
   * `outcome/<source>/<outcome>`, `late/<source>/<outcome>` for the second outcome of a delivery,
   * `handlerMs/<bucket>` and `lagMs/<bucket>` (see `durationBucket`), `secret/<id>` and `rowsDropped`.
   */
  readonly counts: Readonly<Record<number, Readonly<Record<string, number>>>>;
}

/** The process of a batch, and what the store's own clock said when it took the batch. */
export interface SeenProcess extends LogProcess {
  /** Milliseconds since the epoch. A store without a clock of its own gives `at`. */
  readonly seenAt: number;
}

/** Which part of the log is read. */
export interface OutcomeLogQuery {
  before?: string | undefined;
  batches?: number | undefined;
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

/**
 * A bounded log of outcomes, written by every receiver of a store: the newest 2,000 batches, and the
 * counters of 26 hours. No delivery waits for it.
 */
export interface OutcomeLog {
  /**
   * Atomic; a batch whose id is known changes nothing. Rejects with an error that may pass, after which the
   * same batch is appended again. Resolves with `{ refused: error }` for a batch that the log can never take,
   * which is then dropped.
   */
  append(batch: OutcomeBatch): Promise<unknown>;
  /**
   * The newest rows first, of whole batches.
   * @param query.before the `before` of the page before
   * @param query.batches how many batches to read; 20 by default
   * @throws WebhookError `invalid-cursor` for a `before` that the log of such a store never gives
   */
  read(query?: OutcomeLogQuery): Promise<{ rows: OutcomeRow[]; before?: string | undefined }>;
  /** The counters of the minutes (of the epoch) from `since` to `until`, both included. */
  counts(since: number, until: number): Promise<Map<number, Record<string, number>>>;
  /** The processes that wrote in the last 26 hours. */
  processes(): Promise<SeenProcess[]>;
}

const MAX_BATCHES = 2_000;
/** About 3 MB. */
const MAX_ROWS = 10_000;
const KEPT_MINUTES = 26 * 60;
const MAX_PROCESSES = 1_000;

/**
 * An outcome log in memory. Rows are kept as JSON: an object may hold on to the whole text that its
 * ids were cut out of.
 */
export function memoryLog(): OutcomeLog {
  /** By the batch's id, the oldest first. */
  const batches = new Map<string, { at: number; count: number; rows: string }>();
  const counters = new Map<number, Map<string, number>>();
  const processes = new Map<string, LogProcess>();
  let lastAt = 0;
  let rowCount = 0;

  function append({ id, process, rows, counts }: OutcomeBatch): void {
    if (batches.has(id)) return;
    batches.set(id, { at: (lastAt += 1), count: rows.length, rows: JSON.stringify(rows) });
    rowCount += rows.length;
    processes.delete(process.id);
    processes.set(process.id, process);
    for (const [minute, added] of Object.entries(counts)) addAll(Number(minute), added);
    forget(Math.floor(process.at / 60_000));
  }

  function addAll(minute: number, added: Readonly<Record<string, number>>): void {
    const sums = counters.get(minute) ?? new Map<string, number>();
    counters.set(minute, sums);
    for (const [name, count] of Object.entries(added))
      sums.set(name, (sums.get(name) ?? 0) + count);
  }

  /** @param now the minute of the last batch, which says what time it is */
  function forget(now: number): void {
    for (const [id, { count }] of batches) {
      if (batches.size <= MAX_BATCHES && rowCount <= MAX_ROWS) break;
      batches.delete(id);
      rowCount -= count;
    }
    // Also what is from the future: it was written by a clock that has been corrected since.
    const isKept = (minute: number) => Math.abs(minute - now) <= KEPT_MINUTES;
    for (const minute of counters.keys()) if (!isKept(minute)) counters.delete(minute);
    for (const { id, at } of processes.values())
      if (!isKept(Math.floor(at / 60_000)) || processes.size > MAX_PROCESSES) processes.delete(id);
  }

  return {
    append: async (batch) => append(batch),
    async read({ before, batches: limit = 20 } = {}) {
      const end = batchBefore(before) ?? Infinity;
      const older = [...batches.values()].filter(({ at }) => at < end).reverse();
      const page = older.slice(0, limit);
      const rows = page.flatMap((batch) => (JSON.parse(batch.rows) as OutcomeRow[]).reverse());
      const hasMore = older.length > page.length;
      return { rows, ...(hasMore && { before: String(page.at(-1)?.at) }) };
    },
    async counts(since, until) {
      const found = [...counters].filter(([minute]) => minute >= since && minute <= until);
      return new Map(found.map(([minute, sums]) => [minute, Object.fromEntries(sums)]));
    },
    processes: async () => [...processes.values()].map((seen) => ({ ...seen, seenAt: seen.at })),
  };
}
