import { ApiError, type CallRecord } from '@call-webhooks/client';
import type { ReconcileSettings } from './options.ts';
import type { MissedEvent } from './to-events.ts';

/**
 * The event of the recording of a call, if it has one. The service is asked for the recording, and the
 * download is ended when it begins.
 */
export async function recordingEvents(
  { client, signal }: Pick<ReconcileSettings, 'client' | 'signal'>,
  { _id }: CallRecord,
): Promise<MissedEvent[]> {
  try {
    const { body } = await client.calls.recording(_id, { signal, anyContentType: true });
    await body.cancel();
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
  return [
    {
      eventName: 'call:recording-available',
      eventId: `${_id}:recording-available`,
      callId: _id,
      recordingUrl: `${client.baseUrl}/v1/calls/${encodeURIComponent(_id)}/recording`,
    },
  ];
}
