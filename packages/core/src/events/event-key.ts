/**
 * The idempotency key of an event: `eventId` where the body has one, else `callId` and `eventName`
 * (spec, "Events", rules 2 and 3). Use it in your handler to make an effect happen exactly once.
 *
 * @returns `undefined` when the body has neither (an old `call:completed` without `callId`): such an
 *   event can't be told from another, and is handled every time it arrives
 */
export function eventKey(event: object): string | undefined {
  const { eventId, callId, eventName } = event as Record<string, unknown>;
  if (isText(eventId)) return eventId;
  if (!isText(callId) || !isText(eventName)) return undefined;
  // The first colon ends the call id, so that two different pairs never make one key.
  const id = /[%:]/.test(callId) ? callId.replace(/[%:]/g, encodeURIComponent) : callId;
  return `${id}:${eventName}`;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
