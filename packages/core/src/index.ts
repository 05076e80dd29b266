export { createReceiver, type Receiver, type ReceiverRequest } from './receiver.ts';
export type { Health, PortHealth } from './health.ts';
export type { ReceiverOptions } from './options.ts';
export { verify, type Verified, type VerifyOptions } from './verify.ts';
export { sign, type SignOptions } from './sign.ts';
export { generateSecret } from './secret.ts';
export type { NamedSecret, Secret } from './key-ring.ts';
export type { SecretProvider } from './secret-source.ts';
export { memoryStore, type MemoryStoreOptions } from './memory-store.ts';
export type { Admission, Claim, Store } from './store.ts';
export type { Queue, QueuedDelivery } from './queue.ts';
export {
  createWorkerHandler,
  type WorkerHandler,
  type WorkerJob,
  type WorkerOptions,
} from './worker.ts';
export { eventKey } from './event-key.ts';
export {
  callDetails,
  DEFAULT_FIELD_NAMES,
  type CallDetails,
  type FieldNames,
} from './call-details.ts';
export {
  EVENT_NAMES,
  eventSchemas,
  type CallCompletedEvent,
  type CallEventMap,
  type CallRecordingAvailableEvent,
  type CallStartedEvent,
  type UnknownEvent,
} from './events.ts';
export { WebhookError, type WebhookErrorCode } from './webhook-error.ts';
export type { Answer } from './answers.ts';
export { STATUS, type OutcomeCode } from './outcome-code.ts';
export type { Outcome } from './outcome.ts';
export type { HandlerContext } from './context.ts';
export type { Delivery } from './delivery.ts';
export type {
  CustomPayload,
  DeadLetter,
  EventsWith,
  ExtraEvents,
  Handler,
  HandlerOptions,
  Handlers,
  Parked,
} from './handlers.ts';
export type { HeaderPrefix, HeadersLike } from './headers.ts';
export type { BodyLimits, BodyReader } from './body.ts';
export type { Logger } from './logger.ts';
export type { OutputOf, SchemaIssue, SchemaResult, StandardSchema } from './standard-schema.ts';
export {
  startPullWorker,
  type Pulled,
  type PulledJob,
  type PullWorker,
  type PullWorkerOptions,
} from './pull-worker.ts';
