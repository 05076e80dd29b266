export { SETTLE_FOR_MS } from './cursor.ts';
export {
  causeId,
  causeOf,
  groupByCause,
  type DeadLetterCause,
  type FailedEvent,
} from './dead-letters/causes.ts';
export { maskedBody } from './dead-letters/masked-body.ts';
export { erase } from './erase/erase.ts';
export type {
  EraseMatch,
  EraseOptions,
  EraseProgress,
  EraseResult,
  ErasedData,
  ErasedFrom,
} from './erase/options.ts';
export { completedEvents, type MissedEvent, type ToEvents, type CallsClient } from './events.ts';
export { reconcile } from './reconcile.ts';
export type {
  ReconciledEvent,
  ReconcileOptions,
  ReconcileReceiver,
  ReconcileResult,
  ReconcileStore,
  SharedOptions,
} from './reconcile-options.ts';
export type { MissedReport, ReconcilerOptions, ReconcilerStore } from './reconciler-options.ts';
export { startReconciler, type Reconciler } from './reconciler.ts';
export {
  redrive,
  type RedriveOptions,
  type RedriveProgress,
  type RedriveResult,
  type RequeueOptions,
} from './redrive.ts';
export { statusLine } from './status/status-line.ts';
export { status } from './status/status.ts';
export type {
  Attention,
  AttentionKind,
  EventStatus,
  Status,
  StatusNote,
  StatusOptions,
  StatusStore,
  UndecidedRejections,
} from './status/types.ts';
export type { StoreRetry } from './store-calls.ts';
