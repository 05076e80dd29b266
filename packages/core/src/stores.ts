// What authors of stores and queues need besides `@call-webhooks/core`. It follows semantic versioning.
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
} from './dead-letters/record.ts';
export type { ContextOf, ContextWithoutCompleteIn } from './options.ts';
export { storableKey, storableKeySync } from './store/keys.ts';
export { invalidCursor } from './errors.ts';
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
  type SeenProcess,
} from './store/outcome-log.ts';
export { eraser, type StoredRows } from './store/outcome-erasure.ts';
export type { Admission, Claim, DoneMark, StoreWithoutCompleteIn } from './store/store.ts';
export { type BackoffOptions, exponentialBackoff } from './time.ts';
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
  type PolledJob,
  type PollingWorker,
  type PollingWorkerOptions,
  type PollResult,
  startPollingWorker,
} from './worker/polling-worker.ts';
