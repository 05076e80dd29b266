import type { DeliverySource, OutcomeCode } from '../outcomes.ts';

/** What a store knows of an event: done, running, failed so far, or given up with a dead letter. */
export type EventState = 'handled' | 'running' | 'failed' | 'dead-lettered';

/** One outcome, as the log keeps it: ids, codes and durations, never a value of a body. */
export interface OutcomeRow {
  /** When it ended; milliseconds since the epoch, by the clock of its process. */
  readonly at: number;
  /** The id of its process, which is in `LogProcess` too. */
  readonly process: string;
  readonly outcome: OutcomeCode;
  readonly source: DeliverySource;
  /** Set on the second outcome of a delivery that was answered `deadline`. */
  readonly late?: true | undefined;
  readonly tenant?: string | undefined;
  readonly eventName?: string | undefined;
  /** Ids are redacted as in log lines. */
  readonly callId?: string | undefined;
  readonly key?: string | undefined;
  readonly webhookId?: string | undefined;
  readonly attempt?: number | undefined;
  readonly attemptsLeft?: number | undefined;
  /** Milliseconds since the request reached the receiver. */
  readonly durationMs: number;
  readonly handlerMs?: number | undefined;
  readonly lagMs?: number | undefined;
  readonly secretId?: string | undefined;
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

/**
 * A bounded log of outcomes, written by every receiver of a store: the newest 2,000 batches, and the
 * counters of 26 hours. No delivery waits for it.
 */
export interface OutcomeLog {
  /** Atomic; a batch whose id is known changes nothing. */
  append(batch: OutcomeBatch): Promise<void>;
  /**
   * The newest rows first, of whole batches.
   * @param query.before where the page before ended
   * @param query.batches how many batches to read; 20 by default
   */
  read(query?: {
    before?: string | undefined;
    batches?: number | undefined;
  }): Promise<{ rows: OutcomeRow[]; before?: string | undefined }>;
  /** The counters of the minutes (of the epoch) from `since` to `until`, both included. */
  counts(since: number, until: number): Promise<Map<number, Record<string, number>>>;
  /** The processes that wrote in the last 26 hours. */
  processes(): Promise<SeenProcess[]>;
}
