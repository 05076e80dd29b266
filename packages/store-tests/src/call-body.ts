const ENDED_AT = '2026-01-01T12:00:00.000Z';

/** A call event's body, as the service sends it. */
export const callBody = (callId: string, eventName = 'call:completed', more: object = {}) =>
  JSON.stringify({
    eventName,
    callId,
    fromPhoneNumber: { label: 'main' },
    endedAt: ENDED_AT,
    ...more,
  });
