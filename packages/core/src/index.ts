export { createReceiver, type Receiver } from './receiver.ts';
export { createReceiverOnFirstUse } from './receiver.ts';
export type { ReceiverRequest } from './receive.ts';
export type { DeliverOptions } from './deliver.ts';
export type { DeliverInput, RawDelivery, TrustedEvent } from './deliver.ts';
export type { Health, PortHealth } from './receiver.ts';
export type { ReceiverOptions } from './options.ts';
export { verify, type Verified, type VerifyOptions } from './signature/verify.ts';
export { sign, type SignOptions } from './signature/sign.ts';
export { generateSecret } from './signature/secrets.ts';
export type { NamedSecret, Secret } from './signature/secrets.ts';
export type { ProvidedSecret, SecretProvider, SecretRequest } from './signature/secret-provider.ts';
export type { TenantOf } from './signature/tenants.ts';
export type { TenantRequest } from './http/request.ts';
export { tenantKey } from './store/keys.ts';
export { memoryStore } from './store/memory-store.ts';
export type { MemoryStoreOptions } from './store/memory-store.ts';
export type { Admission, Claim, DoneMark, Store, StoreWithoutCompleteIn } from './store/store.ts';
export {
  memoryDeadLetters,
  type MemoryDeadLettersOptions,
} from './dead-letters/memory-dead-letters.ts';
export type {
  DeadLetter,
  DeadLetterFailure,
  DeadLetterSink,
  DeadLetterStore,
  StoredDeadLetter,
} from './dead-letters/dead-letter.ts';
export type {
  DeadJobs,
  DeadLetterClaim,
  DeadLetterFilter,
  DeadLetterList,
  DeadLetterPage,
  DeadLetterQuery,
  DeadLetters,
} from './dead-letters/dead-letter.ts';
export {
  deadLetterId,
  fromRecord,
  MAX_FAILURES,
  storableName,
  toFailureJson,
  toRecord,
  type DeadLetterRecord,
} from './dead-letters/record.ts';
export {
  checkDeadLetterQuery,
  deadLetterPage,
  type CheckedDeadLetterQuery,
} from './dead-letters/query.ts';
export type { Queue, QueuedDelivery } from './queue.ts';
export {
  createJobProcessor,
  createWorkerHandler,
  type JobProcessor,
  type WorkerHandler,
  type WorkerOptions,
} from './worker/job-processor.ts';
export type { JobOutcome, JobResult, JobTransaction, WorkerJob } from './worker/job-processor.ts';
export { eventKey } from './events/events.ts';
export {
  callDetails,
  DEFAULT_FIELD_NAMES,
  type CallDetails,
  type FieldNames,
} from './events/call-details.ts';
export {
  EVENT_NAMES,
  EVENT_SCHEMAS,
  type CallCompletedEvent,
  type CallEventMap,
  type CallRecordingAvailableEvent,
  type CallStartedEvent,
  type UnknownEvent,
} from './events/events.ts';
export { docsUrl, WebhookError, type PayloadIssue, type WebhookErrorCode } from './errors.ts';
export type { DeliverySource, Outcome, ReceiverResponse } from './outcomes.ts';
export {
  CONFIGURATION_ERRORS,
  OUTCOMES,
  STATUS,
  type OutcomeCode,
  type OutcomeInfo,
} from './outcomes.ts';
export type { Around, Run } from './events/handlers.ts';
export type { GroupedEvent, OneAtATime } from './events/route.ts';
export type { ContextOf, ContextWithoutCompleteIn } from './events/handlers.ts';
export type { Delivery, HandlerContext } from './events/context.ts';
export {
  defineHandlers,
  type CustomPayload,
  type EventsWith,
  type ExtraEvents,
  type Handler,
  type HandlerOptions,
  type Handlers,
} from './events/handlers.ts';
export type { HeadersLike } from './http/request.ts';
export type { HeaderPrefix } from './signature/headers.ts';
export type { Profile } from './signature/headers.ts';
export type { BodyLimits, BodyReader } from './http/request.ts';
export type { ErrorHook, ErrorInfo, ReportingHooks } from './report/reporter.ts';
export type { ErrorSource } from './errors.ts';
export type {
  DeliveryMessage,
  EnqueueMessage,
  HandlerMessage,
  OutcomeMessage,
  StoreMessage,
} from './report/channels.ts';
export type { HandlerLogger, Logger, LogMethod } from './report/logger.ts';
export type { OutputOf, SchemaResult, StandardSchema } from './events/schema.ts';
export type { SchemaIssue } from './events/schema.ts';
export {
  DEFAULT_GRACE_MS,
  startPollingWorker,
  type CloseOptions,
  type PollResult,
  type PolledJob,
  type PollingWorker,
  type PollingWorkerOptions,
} from './worker/polling-worker.ts';
export { LeasedJobRun, type LeasedJob } from './worker/leased-job.ts';
export {
  addFailure,
  deadJobLetter,
  deadJobList,
  type DeadJobRange,
  type DeadJobRecord,
  type JobFailure,
} from './worker/dead-jobs.ts';
export { RunningJobs } from './worker/polling-worker.ts';
export { RELEASE_MS, waitAtMost } from './time.ts';
export { exponentialBackoff, type BackoffOptions } from './time.ts';
export { callHook, safeLogger } from './report/logger.ts';
export { consoleLine } from './report/logger.ts';
export { loggedError, loggedFailure, type LoggedError } from './report/log-line.ts';
export type { Redact } from './report/redact.ts';
export { redactId } from './report/ids.ts';
export { checkOptions, option, type OptionRule } from './check-options.ts';
export { sha256, storableKey, storableKeySync } from './store/keys.ts';
export { TurnBatch, type BatchedCall } from './store/turn-batch.ts';
