/**
 * The body of `call:started`, with the fields whose names and contents the interface shows. Real ones
 * also have the user who placed the call, and maybe a `fromPhoneNumber`.
 */
export const started = (callId: string, more: object = {}): string =>
  JSON.stringify({ eventName: 'call:started', callId, ...more });

/** The body of `call:completed`, with the same fields. */
export const completed = (callId: string, more: object = {}): string =>
  JSON.stringify({ eventName: 'call:completed', callId, ...more });

/** The body of `call:recording-available`. */
export const recorded = (callId: string, more: object = {}): string =>
  JSON.stringify({
    eventName: 'call:recording-available',
    eventId: `${callId}:recording-available`,
    callId,
    userId: 'user-1',
    workspaceId: 'workspace-1',
    recordingStartedAt: '2027-01-15T07:58:01.250Z',
    recordingDurationSeconds: 61,
    occurredAt: '2027-01-15T08:00:00.000Z',
    recordingUrl: `https://api.example.com/v1/calls/${callId}/recording`,
    ...more,
  });
