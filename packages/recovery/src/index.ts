export { completedEvents, type MissedEvent, type ToEvents } from './reconcile/to-events.ts';
export { redrive } from './redrive/redrive.ts';
export type {
  RedriveOptions,
  RedriveProgress,
  RedriveResult,
  RequeueOptions,
} from './redrive/options.ts';
