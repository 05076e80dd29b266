// What users import. Everything here is documented, and follows semantic versioning.
export type { DeadLetter, DeadLetters, StoredDeadLetter } from './dead-letters/dead-letter.ts';
export { memoryDeadLetters } from './dead-letters/memory-dead-letters.ts';
export type { DeliverInput, DeliverOptions } from './deliver.ts';
export { WebhookError, type WebhookErrorCode } from './errors.ts';
export { callDetails, type CallDetails, type FieldNames } from './events/call-details.ts';
export type { HandlerContext, Handler } from './delivery.ts';
export {
  type CallCompletedEvent,
  type CallRecordingAvailableEvent,
  type CallStartedEvent,
  EVENT_NAMES,
  eventKey,
} from './events/events.ts';
export { type Around, defineHandlers, type Handlers } from './events/handlers.ts';
export { closeOnSignal, type CloseOnSignalOptions } from './lifecycle.ts';
export type { Health } from './health.ts';
export type { OneAtATime } from './events/route.ts';
export type { ReceiverOptions } from './options.ts';
export type { Outcome, ReceiverResponse } from './outcomes.ts';
export { type OutcomeCode, OUTCOMES } from './outcome-table.ts';
export type { Queue, QueuedDelivery } from './queue.ts';
export type { ReceiverRequest } from './receive.ts';
export { type HealthSource, ready, type ReadyHandler } from './ready.ts';
export { createReceiver, type Receiver } from './receiver.ts';
export type { HandlerLogger, Logger } from './report/logger.ts';
export type { Redact } from './report/redact.ts';
export type { ErrorInfo } from './report/reporter.ts';
export type { SecretProvider, TenantOf } from './signature/secret-provider.ts';
export { generateSecret, type NamedSecret, type Secret } from './signature/secrets.ts';
export { sign, type SignOptions, verify, type VerifyOptions } from './signature/verify.ts';
export { memoryStore, type MemoryStoreOptions } from './store/memory-store.ts';
export type { Store } from './store/store.ts';
export type { PortHealth } from './port-health.ts';
export type { WorkerOptions } from './worker/job-processor.ts';
export type { WorkerHealth } from './worker/worker-health.ts';
