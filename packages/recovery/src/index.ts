export { SETTLE_FOR_MS } from './cursor.ts';
export { completedEvents, type MissedEvent, type ToEvents } from './events.ts';
export { reconcile } from './reconcile.ts';
export type {
  CallsClient,
  ReconciledEvent,
  ReconcileOptions,
  ReconcileReceiver,
  ReconcileResult,
  ReconcileStore,
  SharedOptions,
} from './reconcile-options.ts';
export { startReconciler, type Reconciler } from './reconciler.ts';
export type { MissedReport, ReconcilerOptions, ReconcilerStore } from './reconciler-options.ts';
export {
  redrive,
  type RedriveOptions,
  type RedriveProgress,
  type RedriveResult,
  type RequeueOptions,
} from './redrive.ts';
