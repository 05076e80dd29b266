// What authors of stores and queues need besides `@call-webhooks/core`. It follows semantic versioning.
export { checkOptions, option, type OptionRule } from './check-options.ts';
export type {
  DeadJobs,
  DeadLetterClaim,
  DeadLetterFailure,
  DeadLetterFilter,
  DeadLetterList,
  DeadLetterPage,
  DeadLetterQuery,
  DeadLetterSink,
  DeadLetterStore,
  ListedDeadLetter,
} from './dead-letters/dead-letter.ts';
export {
  checkDeadLetterQuery,
  type CheckedDeadLetterQuery,
  deadLetterPage,
  deadLetterId,
  type DeadLetterRecord,
  fromRecord,
  MAX_FAILURES,
  toFailureJson,
  toRecord,
  withBody,
  withFailure,
} from './dead-letters/record.ts';
export {
  type KeptLetters,
  type Retention,
  type RetentionOptions,
  startRetention,
} from './dead-letters/retention.ts';
export { type ContextOf, type ContextWithoutCompleteIn, withoutOptions } from './options.ts';
export { loggedError } from './report/error-text.ts';
export { LineLimit, safeLogger } from './report/logger.ts';
export { sha256, storableKey, storableKeySync, tenantKey } from './store/keys.ts';
export { docsUrl, invalidCursor } from './errors.ts';
export type { JobPage, JobState, ListedJob, QueueJobs } from './queue-jobs.ts';
export type { ExpiringLetters, RemovalTurn } from './removal.ts';
export {
  batchBefore,
  bucketEnd,
  clockAhead,
  COUNTER_SERIES,
  counterName,
  counterParts,
  type Counters,
  type CounterSeries,
  durationBucket,
  type EventState,
  keptPeriods,
  keptRows,
  type KeptRows,
  LOG_LIMITS,
  type LogProcess,
  type OutcomeBatch,
  type OutcomeErasure,
  type OutcomeLog,
  type OutcomeLogQuery,
  type OutcomeRow,
  rowsOfBatch,
  SAME_CLOCK_MS,
  type SeenProcess,
  SERIES_NAMES,
} from './store/outcome-log.ts';
export { eraser, type StoredRows } from './store/outcome-erasure.ts';
export type {
  StoreModule,
  StoreModuleExport,
  StoreModuleOptions,
  StoreProblem,
  StoreReport,
} from './store-module.ts';
export type { Admission, Claim, DoneMark, StoreWithoutCompleteIn } from './store/store.ts';
export { type Sweeper, type Sweeping, sweepingBeside } from './store/sweeping.ts';
export { type BatchedCall, TurnBatch } from './store/turn-batch.ts';
export { type BackoffOptions, exponentialBackoff, RELEASE_MS, waitAtMost } from './time.ts';
export {
  addFailure,
  deadJobs,
  type DeadJobEngine,
  type DeadJobRange,
  type DeadJobRecord,
  type JobFailure,
} from './worker/dead-jobs.ts';
export {
  type ClosableJobProcessor,
  createJobProcessor,
  type JobOutcome,
  type JobProcessor,
  type JobResult,
  type JobTransaction,
  type WorkerJob,
} from './worker/job-processor.ts';
export { type LeasedJob, LeasedJobRun } from './worker/leased-job.ts';
export {
  type CloseOptions,
  DEFAULT_GRACE_MS,
  type PolledJob,
  type PollingWorker,
  type PollingWorkerOptions,
  type PollResult,
  startPollingWorker,
} from './worker/polling-worker.ts';
export { RunningJobs } from './worker/running-jobs.ts';
export { WorkerNotes, type WorkerState } from './worker/worker-health.ts';
