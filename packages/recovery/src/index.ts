export { completedEvents, type MissedEvent, type ToEvents } from './reconcile/to-events.ts';
