export { reconcile } from './reconcile/reconcile.ts';
export { completedEvents, type MissedEvent, type ToEvents } from './reconcile/to-events.ts';
export type {
  CallsClient,
  ReconciledEvent,
  ReconcileOptions,
  ReconcileReceiver,
  ReconcileStore,
  SharedOptions,
} from './reconcile/options.ts';
export type { ReconcileResult } from './reconcile/result.ts';
export { SETTLE_FOR_MS } from './reconcile/window.ts';
export { startReconciler, type Reconciler } from './reconciler/start-reconciler.ts';
export type { MissedReport, ReconcilerOptions, ReconcilerStore } from './reconciler/options.ts';
export { redrive } from './redrive/redrive.ts';
export type {
  RedriveOptions,
  RedriveProgress,
  RedriveResult,
  RequeueOptions,
} from './redrive/options.ts';
