export { createReceiver, type Receiver } from './receiver/receiver.ts';
export { createReceiverOnFirstUse } from './receiver/on-first-use.ts';
export type { ReceiverRequest } from './receiver/receive.ts';
export type { DeliverOptions } from './receiver/deliver.ts';
export type { DeliverInput, RawDelivery, TrustedEvent } from './receiver/trusted-delivery.ts';
export type { Health, PortHealth } from './receiver/health.ts';
export type { ReceiverOptions } from './receiver/options.ts';
export { verify, type Verified, type VerifyOptions } from './signature/verify.ts';
export { sign, type SignOptions } from './signature/sign.ts';
export { generateSecret } from './signature/secrets.ts';
export type { NamedSecret, Secret } from './signature/secrets.ts';
export type { ProvidedSecret, SecretProvider, SecretRequest } from './signature/secret-provider.ts';
export type { TenantOf } from './signature/tenant-names.ts';
export type { TenantRequest } from './http/tenant-request.ts';
export { tenantKey } from './tenant.ts';
export { memoryStore } from './store/memory-store.ts';
export type { MemoryStoreOptions } from './store/memory-store-options.ts';
export type { Admission, Claim, DoneMark, Store, StoreWithoutCompleteIn } from './store/store.ts';
export { memoryDeadLetters, type MemoryDeadLettersOptions } from './store/memory-dead-letters.ts';
export type {
  DeadLetter,
  DeadLetterFailure,
  DeadLetterSink,
  DeadLetterStore,
  StoredDeadLetter,
} from './store/dead-letter.ts';
export type {
  DeadJobs,
  DeadLetterClaim,
  DeadLetterFilter,
  DeadLetterList,
  DeadLetterPage,
  DeadLetterQuery,
  DeadLetters,
} from './store/dead-letters.ts';
export {
  deadLetterId,
  fromRecord,
  MAX_FAILURES,
  storableName,
  toFailureJson,
  toRecord,
  type DeadLetterRecord,
} from './store/dead-letter-record.ts';
export {
  checkDeadLetterQuery,
  deadLetterPage,
  type CheckedDeadLetterQuery,
} from './store/dead-letter-query.ts';
export type { Queue, QueuedDelivery } from './queue.ts';
export {
  createJobProcessor,
  createWorkerHandler,
  type JobProcessor,
  type WorkerHandler,
  type WorkerOptions,
} from './worker/job-processor.ts';
export type { JobOutcome, JobResult, JobTransaction, WorkerJob } from './worker/worker-job.ts';
export { eventKey } from './events/events.ts';
export {
  callDetails,
  DEFAULT_FIELD_NAMES,
  type CallDetails,
  type FieldNames,
} from './events/call-details.ts';
export {
  EVENT_NAMES,
  type CallCompletedEvent,
  type CallEventMap,
  type CallRecordingAvailableEvent,
  type CallStartedEvent,
  type UnknownEvent,
} from './events/events.ts';
export {
  docsUrl,
  WebhookError,
  type PayloadIssue,
  type WebhookErrorCode,
} from './outcome/webhook-error.ts';
export type { DeliverySource, Outcome, ReceiverResponse } from './outcome/response.ts';
export {
  CONFIGURATION_ERRORS,
  OUTCOMES,
  STATUS,
  type OutcomeCode,
  type OutcomeInfo,
} from './outcome/outcomes.ts';
export type { Around, Run } from './dispatch/around.ts';
export type { GroupedEvent, OneAtATime } from './dispatch/group.ts';
export type { ContextOf, ContextWithoutCompleteIn } from './dispatch/context-of-store.ts';
export type { HandlerContext } from './dispatch/context.ts';
export type { Delivery } from './dispatch/delivery.ts';
export {
  defineHandlers,
  type CustomPayload,
  type EventsWith,
  type ExtraEvents,
  type Handler,
  type HandlerOptions,
  type Handlers,
} from './dispatch/handlers.ts';
export type { HeadersLike } from './http/request.ts';
export type { HeaderPrefix } from './signature/signature-headers.ts';
export type { Profile } from './profile.ts';
export type { BodyLimits, BodyReader } from './http/body.ts';
export type { ErrorHook, ErrorInfo, ReportingHooks } from './reporting/hooks.ts';
export type { ErrorSource } from './outcome/origin.ts';
export type {
  DeliveryMessage,
  EnqueueMessage,
  HandlerMessage,
  OutcomeMessage,
  StoreMessage,
} from './channels/channels.ts';
export type { HandlerLogger, Logger, LogMethod } from './reporting/logger.ts';
export type { OutputOf, SchemaResult, StandardSchema } from './events/schema.ts';
export type { SchemaIssue } from './events/schema-issues.ts';
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
export { RunningJobs } from './worker/running-jobs.ts';
export { RELEASE_MS, waitAtMost } from './time/wait-at-most.ts';
export { exponentialBackoff, type BackoffOptions } from './time/backoff.ts';
export { callHook, safeLogger } from './reporting/logger.ts';
export { consoleLine } from './reporting/console-line.ts';
export { loggedError, loggedFailure, type LoggedError } from './reporting/logged-error.ts';
export type { Redact } from './redact/redactor.ts';
export { redactId } from './redact/ids.ts';
export { fieldKind, type FieldKind } from './redact/personal-values.ts';
export { isOrdinaryWord } from './redact/ordinary-words.ts';
export { checkOptions, option, type OptionRule } from './check-options.ts';
export { hash53 } from './store/hash53.ts';
export { sha256, storableKey, storableKeySync } from './store/storable-key.ts';
export { TurnBatch, type BatchedCall } from './store/turn-batch.ts';
