export { SETTLE_FOR_MS } from './cursor.ts';
export {
  causeId,
  causeOf,
  groupByCause,
  type DeadLetterCause,
  type FailedEvent,
} from './dead-letters/causes.ts';
export { maskedBody } from './dead-letters/masked-body.ts';
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
export {
  startReconciler,
  type MissedReport,
  type Reconciler,
  type ReconcilerOptions,
  type ReconcilerStore,
} from './reconciler.ts';
export {
  redrive,
  type RedriveOptions,
  type RedriveProgress,
  type RedriveResult,
  type RequeueOptions,
} from './redrive.ts';
export type { StoreRetry } from './store-calls.ts';
