import type { StoredDeadLetter } from '@call-webhooks/core';
import { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';

/** These identify events, not people. */
const SHOWN = new Set([
  'eventName',
  'eventId',
  'callId',
  'userId',
  'workspaceId',
  'recordingDurationSeconds',
]);
/** These are times (spec, the bodies of webhooks). Anything else in them is hidden. */
const TIMES = new Set<string>([
  DEFAULT_FIELD_NAMES.createdAt,
  DEFAULT_FIELD_NAMES.dialedAt,
  DEFAULT_FIELD_NAMES.endedAt,
  'recordingStartedAt',
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
      isShown(name, inner) ? inner : masked(inner),
    ]),
  );
}

const isShown = (name: string, value: unknown): boolean =>
  TIMES.has(name) ? isTime(value) : SHOWN.has(name) && typeof value !== 'object';

const [EARLIEST, LATEST] = [Date.UTC(2000, 0), Date.UTC(2100, 0)];

/** Epoch milliseconds of this century, or an ISO 8601 date and time. */
const isTime = (value: unknown): boolean =>
  typeof value === 'number'
    ? Number.isInteger(value) && value >= EARLIEST && value < LATEST
    : typeof value === 'string' &&
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/.test(value);
