import { DEFAULT_FIELD_NAMES, looksLikeField, redactId } from '@call-webhooks/core/internal';

const MASK = '•••';
const MAX_DEPTH = 50;

/** What identifies the event: shown as log lines show it. */
const IDS = new Set(['eventName', 'eventId', 'callId', 'userId', 'workspaceId']);
const TIMES = new Set<string>([
  DEFAULT_FIELD_NAMES.createdAt,
  DEFAULT_FIELD_NAMES.dialedAt,
  DEFAULT_FIELD_NAMES.endedAt,
  'recordingStartedAt',
  'occurredAt',
]);
const STATES = new Set(['status', 'state', 'direction']);
const NUMBERS = new Set(['recordingDurationSeconds']);

const ID = /^[\w:.-]{1,200}$/;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;
const STATE = /^[a-z]+(?:[-_][a-z]+){0,3}$/;
const DIGITS_ALONE = /^\+?[\d\s().-]{7,}$/;
const [EARLIEST, LATEST] = [Date.UTC(2000, 0), Date.UTC(2100, 0)];

/**
 * Masks personal data in the body of a dead letter. The structure stays, and so do booleans, empty values, and the ids,
 * times, states and durations that are known to say nothing about a person. Every other value is replaced by its kind,
 * such as `••• email address`.
 * @param rawBody the raw bytes of the body
 * @returns JSON without indentation; `undefined` if the body is not JSON and therefore cannot be masked
 */
export function maskedBody(rawBody: Uint8Array): string | undefined {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder().decode(rawBody));
  } catch {
    return undefined;
  }
  return JSON.stringify(masked(body, '', 0));
}

/**
 * Returns the name of a field of a body, or a mask if it may be the name of a person.
 * @param index the position of the field, from 0, which keeps masked names apart
 */
export const maskedFieldName = (name: string, index: number): string =>
  looksLikeField(name) && redactId(name) === name ? name : `${MASK} ${String(index + 1)}`;

function masked(value: unknown, field: string, depth: number): unknown {
  if (value === null || typeof value === 'boolean' || value === '') return value;
  if (depth > MAX_DEPTH) return MASK;
  if (Array.isArray(value)) return value.map((inner) => masked(inner, '', depth + 1));
  if (typeof value === 'object') {
    const entries = Object.entries(value).map(([name, inner], index) => [
      maskedFieldName(name, index),
      masked(inner, name, depth + 1),
    ]);
    return Object.fromEntries(entries) as unknown;
  }
  return isShown(value, field) ? shown(value) : `${MASK} ${kindOf(value)}`;
}

function isShown(value: unknown, field: string): boolean {
  if (typeof value === 'number')
    return NUMBERS.has(field) || (TIMES.has(field) && value >= EARLIEST && value < LATEST);
  const text = value as string;
  if (IDS.has(field)) return ID.test(text) && !DIGITS_ALONE.test(text);
  return (TIMES.has(field) && ISO_TIME.test(text)) || (STATES.has(field) && STATE.test(text));
}

const shown = (value: unknown) => (typeof value === 'string' ? redactId(value) : value);

function kindOf(value: unknown): string {
  if (typeof value !== 'string') return typeof value;
  if (/^[^\s@]{1,200}@[^\s@]{1,200}$/.test(value)) return 'email address';
  if (/^[a-z][a-z\d+.-]{0,20}:\/\//i.test(value)) return 'URL';
  if (ISO_TIME.test(value)) return 'time';
  return DIGITS_ALONE.test(value) ? 'digits' : 'text';
}
