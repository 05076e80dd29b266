// What users import. Everything here is documented, and follows semantic versioning.
export type { DeadLetter, DeadLetters, StoredDeadLetter } from './dead-letters/dead-letter.ts';
export {
  memoryDeadLetters,
  type MemoryDeadLettersOptions,
} from './dead-letters/memory-dead-letters.ts';
export type { DeliverInput, DeliverOptions, RawDelivery } from './deliver.ts';
export {
  type PayloadIssue,
  WebhookError,
  type WebhookErrorCode,
  type WebhookErrorOptions,
} from './errors.ts';
export { callDetails, type CallDetails, type FieldNames } from './events/call-details.ts';
export type { Handler, HandlerContext } from './delivery.ts';
export {
  type CallCompletedEvent,
  type CallRecordingAvailableEvent,
  type CallStartedEvent,
  type CallEventMap,
  EVENT_NAMES,
  eventKey,
  type UnknownEvent,
} from './events/events.ts';
export {
  type Around,
  type CustomPayload,
  defineHandlers,
  type ExtraEvents,
  type Handlers,
  type Run,
} from './events/handlers.ts';
export type { OutputOf, StandardSchema } from './events/schema.ts';
export type { UnknownFields } from './events/field-check.ts';
export type { BodyLimits, BodyReader, HeadersLike, TenantRequest } from './http/request.ts';
export { closeOnSignal, type CloseOnSignalOptions } from './lifecycle.ts';
export type { Health } from './health.ts';
export type { GroupedEvent, OneAtATime } from './events/route.ts';
export type { HandlerOptions, ReceiverOptions } from './options.ts';
export type { DeliverySource, Outcome, ReceiverResponse } from './outcomes.ts';
export { type OutcomeCode, type OutcomeInfo, OUTCOMES } from './outcome-table.ts';
export type { Queue, QueuedDelivery } from './queue.ts';
export type { ReceiverRequest } from './receive.ts';
export { type HealthSource, type OrItsHandler, ready, type ReadyHandler } from './ready.ts';
export { createReceiver, type Receiver } from './receiver.ts';
export type { HandlerLogger, Logger } from './report/logger.ts';
export type { Redact } from './report/redact.ts';
export type { HeaderPrefix } from './signature/headers.ts';
export type { ErrorHook, ErrorInfo, ReportingHooks } from './report/reporter.ts';
export type {
  ProvidedSecret,
  SecretProvider,
  SecretRequest,
  TenantOf,
} from './signature/secret-provider.ts';
export { parseSecretFile } from './signature/secret-file.ts';
export { generateSecret, type NamedSecret, type Secret } from './signature/secrets.ts';
export {
  sign,
  type SignOptions,
  type Verified,
  verify,
  type VerifyOptions,
} from './signature/verify.ts';
export { memoryStore, type MemoryStoreOptions } from './store/memory-store.ts';
export type { Store } from './store/store.ts';
export type { PortHealth } from './port-health.ts';
export type { WorkerOptions } from './worker/job-processor.ts';
export type { WorkerHealth } from './worker/worker-health.ts';
