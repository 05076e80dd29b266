import { ApiError, type CallRecord, type Client } from '@call-webhooks/client';
import { callDetails, type FieldNames } from '@call-webhooks/core';

/** An event that `reconcile` runs: what the body of its webhook would have. It needs a `callId` or an `eventId`. */
export interface MissedEvent {
  eventName: string;
  callId?: string;
  eventId?: string;
  [field: string]: unknown;
}

/**
 * A function that makes the events that should have arrived for a call by now. It has to leave out what has not
 * happened yet: if an event runs too early, its webhook is a duplicate later, and the data of the webhook is lost.
 * @param call the record of the call, as the service lists it
 * @param window.until the webhook of what happened after this time may still arrive
 * @example
 * const toEvents: ToEvents = (call, { until }) =>
 *   typeof call.endedAt === 'string' && new Date(call.endedAt) <= until
 *     ? [{ ...call, eventName: 'call:completed', callId: call._id }]
 *     : [];
 */
export type ToEvents = (call: CallRecord, window: { until: Date }) => readonly MissedEvent[];

/** A call without an end is taken for completed when it began this long ago; milliseconds. */
export const LONGEST_CALL_MS = 4 * 3_600_000;

/** Services write 0, or the year 1, where there is no time. */
const known = (time: Date | undefined): Date | undefined =>
  time && time.getTime() > 0 ? time : undefined;

/**
 * When a call began; milliseconds since the epoch.
 * @param fieldNames the names of the times, as for `context.call`
 * @returns `undefined` if its record has no time that can be read
 */
export function beganAt(call: CallRecord, fieldNames: FieldNames): number | undefined {
  const { createdAt, dialedAt } = callDetails(call, fieldNames);
  const times = [createdAt, dialedAt].flatMap((time) => known(time)?.getTime() ?? []);
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** When a call ended, or began if its record has no end. */
export const happenedAt = (call: CallRecord, fieldNames: FieldNames): Date =>
  known(callDetails(call, fieldNames).endedAt) ?? new Date(beganAt(call, fieldNames) ?? 0);

/** Whether a call had certainly ended by a time. */
function hasEnded(call: CallRecord, by: Date, fieldNames: FieldNames): boolean {
  const began = beganAt(call, fieldNames) ?? Infinity;
  const { endedAt } = callDetails(call, fieldNames);
  return (known(endedAt)?.getTime() ?? began + LONGEST_CALL_MS) <= by.getTime();
}

/**
 * The default of the option `toEvents`: makes one `call:completed` for each call that has ended. The event has the
 * `callId` alone, because the service documents no other field of a call record than `_id`. A call has ended if its
 * record has an end, or if it began four hours ago.
 * @param fieldNames the names of the time fields in your call records, as for the option `fieldNames` of a receiver
 * @example
 * const toEvents: ToEvents = (call, window) =>
 *   completedEvents()(call, window).map((event) => ({ ...event, ...call }));
 */
export function completedEvents(fieldNames: FieldNames = {}): ToEvents {
  return (call, { until }) =>
    hasEnded(call, until, fieldNames) ? [{ eventName: 'call:completed', callId: call._id }] : [];
}

/** How the events of a call are found. */
interface EventSettings {
  readonly client: CallsClient;
  readonly toEvents: ToEvents;
  /** Whether the service is asked for recordings. */
  readonly recordings: boolean;
  readonly fieldNames: FieldNames;
  readonly signal?: AbortSignal | undefined;
}

/** The events that should have come for a call, its recording included if that was asked for. */
export async function eventsOf(
  call: CallRecord,
  until: Date,
  settings: EventSettings,
): Promise<readonly MissedEvent[]> {
  const events = settings.toEvents(call, { until });
  if (!settings.recordings || !hasEnded(call, until, settings.fieldNames)) return events;
  if (!(await hasRecording(call, settings))) return events;
  const { _id: callId } = call;
  const recording = {
    eventName: 'call:recording-available',
    eventId: `${callId}:recording-available`,
    callId,
    recordingUrl: `${settings.client.baseUrl}/v1/calls/${encodeURIComponent(callId)}/recording`,
  };
  return [...events, recording];
}

/** Asks the service for the recording, and ends the download when it begins. */
async function hasRecording(
  { _id }: CallRecord,
  { client, signal }: EventSettings,
): Promise<boolean> {
  try {
    const { body } = await client.calls.recording(_id, { signal, anyContentType: true });
    await body.cancel();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

/** The part of a client of `@call-webhooks/client` that `reconcile` uses. */
export interface CallsClient {
  readonly baseUrl: string;
  readonly calls: Pick<Client['calls'], 'list' | 'recording'>;
}
