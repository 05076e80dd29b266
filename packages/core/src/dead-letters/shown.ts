// What people are shown of dead letters: their causes, and a body without personal data.
import { DEFAULT_FIELD_NAMES } from '../events/call-details.ts';
import { redactId } from '../report/redact.ts';
import { sha256 } from '../store/keys.ts';
import type { ListedDeadLetter } from './dead-letter.ts';

/** Longer error texts are cut: their beginning tells the cause. */
const MAX_TEXT = 1_000;
const MAX_CAUSE = 200;

/** What only one of several errors may have, and what looks so and yet tells the cause. */
const OWN = new RegExp(
  [
    // The code of an error, and a status of HTTP: `[P2002]`, `responded 422`.
    String.raw`(?<kept>\[[A-Z\d_]{3,40}\]|(?<=\b(?:status|code|http|responded|returned|answered)(?: code)?[ :=]{1,2})[1-5]\d\d\b)`,
    String.raw`"[^"]{0,500}"|“[^”]{0,500}”|‘[^’]{0,500}’|\x60[^\x60]{0,500}\x60`,
    String.raw`(?<!\w)'[^']{0,500}'(?!\w)`,
    String.raw`(?<=\bhttps?:\/\/[^\s?#]{1,200})[?#][^\s"')\],;]*`, // the query of a URL
    // A word with a digit: an id, a number, a time, an address.
    String.raw`(?<![\w-])[\w-]*?\d[\w-]*(?:[:.,+][\w-]*?\d[\w-]*)*`,
  ].join('|'),
  'gi',
);

/**
 * What an error has in common with others of the same cause: its text without ids, numbers and quoted
 * texts. A status of HTTP and the code of an error stay.
 * @param error a redacted text, as the `error` of a listed dead letter
 * @example
 * causeOf('The CRM responded 422: no contact "c-17"'); // 'The CRM responded 422: no contact …'
 */
export function causeOf(error: string): string {
  const text = error.slice(0, MAX_TEXT).replace(OWN, (_found, kept?: string) => kept ?? '…');
  // A list of ids is one cause, however long it is.
  const cause = text.replace(/…(?:[\s,;/]{0,3}…)+/g, '…').trim();
  return cause.length > MAX_CAUSE ? `${cause.slice(0, MAX_CAUSE - 1)}…` : cause;
}

/** Dead letters that failed for the same cause. */
export interface DeadLetterCause {
  /** The same in all processes: 12 hexadecimal digits. */
  id: string;
  /** The error without ids, numbers and quoted texts. */
  text: string;
  count: number;
  /** When the first failure of any of them was, and the last one. */
  firstAt: Date;
  lastAt: Date;
  /** Sorted. */
  eventNames: string[];
  /** The id and the whole error of the letter that failed last. */
  example: { id: string; error: string };
}

/** The id of a cause, as `causeOf` gives it. */
export const causeId = async (cause: string): Promise<string> => (await sha256(cause)).slice(0, 12);

/** Groups dead letters by the cause of their last error: the most frequent first. */
export async function groupByCause(
  letters: Iterable<Pick<ListedDeadLetter, 'id' | 'error' | 'eventName' | 'failedAt' | 'history'>>,
): Promise<DeadLetterCause[]> {
  const groups = new Map<string, DeadLetterCause & { names: Set<string> }>();
  for (const { id, error, eventName = 'unknown', failedAt, history } of letters) {
    const text = causeOf(error);
    const firstAt = history[0]?.at ?? failedAt;
    const example = { id, error };
    let group = groups.get(text);
    if (!group) {
      const names = new Set<string>();
      const of = { id: await causeId(text), text, count: 0, eventNames: [], names };
      groups.set(text, (group = { ...of, firstAt, lastAt: failedAt, example }));
    }
    group.count += 1;
    group.names.add(eventName);
    if (firstAt < group.firstAt) group.firstAt = firstAt;
    if (failedAt >= group.lastAt) Object.assign(group, { lastAt: failedAt, example });
  }
  return [...groups.values()]
    .map(({ names, ...group }) => ({ ...group, eventNames: [...names].sort() }))
    .sort((one, other) => other.count - one.count || Number(other.lastAt) - Number(one.lastAt));
}

const MASK = '•••';
const MAX_DEPTH = 50;
/** A key of another form may be a name: `{ "Ada Lovelace": 3 }`. */
const FIELD_NAME = /^[a-z_][\w-]{0,63}$/;

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
 * The body of a dead letter without personal data: its shape, and of its values only the ids, times
 * and states that are known to say nothing of a person. Every other value is replaced by its kind.
 * @returns JSON, not indented; `undefined` for a body that is no JSON, which cannot be masked
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

function masked(value: unknown, field: string, depth: number): unknown {
  if (value === null || typeof value === 'boolean' || value === '') return value;
  if (depth > MAX_DEPTH) return MASK;
  if (Array.isArray(value)) return value.map((inner) => masked(inner, '', depth + 1));
  if (typeof value === 'object') {
    const entries = Object.entries(value).map(([name, inner], index) => [
      FIELD_NAME.test(name) && redactId(name) === name ? name : `${MASK} ${String(index + 1)}`,
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
  if (/^[^\s@]{1,200}@[^\s@]{1,200}$/.test(value)) return 'e-mail address';
  if (/^[a-z][a-z\d+.-]{0,20}:\/\//i.test(value)) return 'URL';
  if (ISO_TIME.test(value)) return 'time';
  return DIGITS_ALONE.test(value) ? 'digits' : 'text';
}
