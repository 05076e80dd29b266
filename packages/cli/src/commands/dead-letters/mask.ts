import type { StoredDeadLetter } from '@call-webhooks/core';

/** These identify events, not people, or are times. */
const SHOWN = new Set([
  'eventName',
  'eventId',
  'callId',
  'userId',
  'workspaceId',
  'recordingStartedAt',
  'recordingDurationSeconds',
  'occurredAt',
]);
const HIDDEN = '•••';

/** The body of a letter: as it is, or with its personal data hidden. */
export function bodyOf({ rawBody }: StoredDeadLetter, reveal = false): string | Uint8Array {
  const text = Buffer.from(rawBody).toString('utf8');
  const isText = Buffer.from(text).equals(rawBody);
  if (reveal) return isText ? text : rawBody;
  try {
    return JSON.stringify(masked(JSON.parse(text)));
  } catch {
    return `(${String(rawBody.length)} bytes that are no JSON)`;
  }
}

/** Keeps the shape, the field names and what is known to be harmless. */
function masked(value: unknown): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value !== 'object') return HIDDEN;
  if (Array.isArray(value)) return value.map(masked);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      // A key may be the name of a person.
      /^[a-z_]\w*$/.test(name) ? name : HIDDEN,
      SHOWN.has(name) && typeof inner !== 'object' ? inner : masked(inner),
    ]),
  );
}
