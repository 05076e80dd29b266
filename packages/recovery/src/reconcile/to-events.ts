import type { CallRecord } from '@call-webhooks/client';

/** An event as a webhook body would hold it. */
export interface MissedEvent {
  eventName: string;
  callId?: string;
  [field: string]: unknown;
}

/** The events that should have come for a call. It must leave out what has not happened yet. */
export type ToEvents = (call: CallRecord) => readonly MissedEvent[];

/**
 * One `call:completed` for a call that has ended. It holds the `callId` alone: the spec shows no
 * other field of a call record than its `_id`.
 */
export const completedEvents: ToEvents = ({ _id }) => [
  { eventName: 'call:completed', callId: _id },
];
