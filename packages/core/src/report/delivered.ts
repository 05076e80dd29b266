import type { DeliveryContent } from '../errors.ts';
import { callDetails } from '../events/call-details.ts';
import { looksLikeEventName } from './event-name.ts';
import { LongPieces, MAX_PIECE } from './long-pieces.ts';
import { isPlain, looksLikeField, looksLikeId, oneLine } from './visible.ts';

const MIN_PIECE = 4;
/** A longer text is cut, so of a longer value only the beginning can be in it. */
export const MAX_TEXT = 4_000;
/** So much of what is cut off is searched as well: a value may begin in front of the cut. */
export const OVERLAP = 400;
/** What has more cannot be searched without blocking the process. */
const MAX_VALUES = 50_000;
/** These fields identify events, not people. */
const PLAIN_FIELDS = new Set(['eventName', 'eventId', 'callId']);
/** Times, and hexadecimal ids such as UUIDs. */
const PLAIN_VALUE =
  /^\d{4}-\d\d-\d\d(?:[t ][\d:.,]+ ?(?:z|utc|gmt|[+-][\d:]+)?)?$|^1[4-9]\d{11}$|^(?=[\da-f-]{16,64}$)(?=.*\d)(?=.*[a-f])/;
const MAX_PLAIN = 64;
/** Errors have to name the servers that failed. */
const ORIGIN = /^https?:\/\/[^/?#\s@]{1,255}/;
/** What JSON writes as an escape. */
const ESCAPED = /["\\]|[^ -\uffff]/;

/** Of the length of the text: the usual lower case of `İ` has two characters. */
const lowerCase = (text: string): string =>
  isPlain(text) ? text.toLowerCase() : text.replaceAll('İ', 'i').toLowerCase().replaceAll('ς', 'σ');

/** What was sent as an id or the name of an event, but may be the name of a person. */
const isNoId = (value: unknown): value is string =>
  typeof value === 'string' && !looksLikeId(value) && !looksLikeEventName(value);

const STARTS = 2 ** 16;
/** Of the four characters at a place of a text: a number below `STARTS`. */
const startAt = (text: string, at: number): number =>
  ((text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) * 961 +
    text.charCodeAt(at + 2) * 31 +
    text.charCodeAt(at + 3)) &
  (STARTS - 1);

/** What is searched for in texts about one delivery. */
export interface Values {
  /** In lower case. */
  readonly pieces: Pieces | undefined;
  /** The words of the person's name, and other ways to write who was called. */
  readonly person: RegExp | undefined;
}

/**
 * The pieces of values that are searched for, of 4 to 20 characters: longer values are cut. A value of 1 MB
 * has 50,000 pieces, and so have 20,000 values, which no failure may take long to gather.
 */
class Pieces {
  /** Shorter ones than `MAX_PIECE`. */
  readonly #short = new Set<string>();
  /** By `startAt` of short pieces: which lengths those have, as bits. */
  readonly #lengths = new Int32Array(STARTS);
  readonly #long = new LongPieces();
  /** Short values are often repeated. */
  readonly #added = new Set<string>();

  get size(): number {
    return this.#short.size + this.#long.size + this.#added.size;
  }

  add(text: string): void {
    if (text.length < MIN_PIECE) return;
    if (text.length < MAX_PIECE) {
      if (this.#added.has(text)) return;
      this.#added.add(text);
    }
    const raw = text.slice(0, MAX_TEXT + OVERLAP);
    const isAscii = isPlain(raw);
    const whole = (isAscii ? raw.toLowerCase() : lowerCase(oneLine(raw))).trim();
    if (whole.length <= MAX_PLAIN && PLAIN_VALUE.test(whole)) return;
    const value = whole.startsWith('http') ? whole.replace(ORIGIN, '') : whole;
    if (value.length < MIN_PIECE) return;
    this.#cut(value);
    // The texts that are searched have lost what can't be seen, but not how JSON writes it.
    if (!ESCAPED.test(raw)) return;
    if (isAscii) this.#cut(JSON.stringify(whole), 1);
    else this.#cut(lowerCase(oneLine(JSON.stringify(raw).slice(1, -1))).trim());
  }

  /** @param quotes how many characters stand around the value */
  #cut(text: string, quotes = 0): void {
    const to = text.length - quotes;
    if (to - quotes >= MAX_PIECE) {
      for (let at = quotes; at < to; at += MAX_PIECE)
        this.#long.add(text, Math.min(at, to - MAX_PIECE)); // the last overlaps another
      return;
    }
    const value = text.slice(quotes, to);
    this.#short.add(value);
    const start = startAt(value, 0);
    this.#lengths[start] = (this.#lengths[start] as number) | (1 << value.length);
  }

  /** Where a text has pieces, longest first at each place. */
  *in(text: string): Generator<[from: number, to: number]> {
    if (this.#short.size + this.#long.size === 0) return;
    const searched = lowerCase(text);
    const isLongAt = this.#long.finder(searched);
    for (let at = 0; at <= searched.length - MIN_PIECE; at++) {
      if (isLongAt(at)) {
        yield [at, at + MAX_PIECE];
        continue;
      }
      const known = this.#lengths[startAt(searched, at)] as number;
      if (known === 0) continue;
      for (let length = MAX_PIECE - 1; length >= MIN_PIECE; length--)
        if (known & (1 << length) && this.#short.has(searched.slice(at, at + length))) {
          yield [at, at + length];
          break;
        }
    }
  }
}

export const NO_VALUES: Values = { pieces: undefined, person: undefined };

/**
 * Finds what is searched for in texts about one delivery.
 * @throws RangeError if it is too much
 */
function findValues(content: DeliveryContent): Values {
  if (content.made === UNREADABLE) throw new RangeError('what a schema made cannot be read');
  const body = parsed(content.rawBody);
  const pieces = new Pieces();
  const left: unknown[] = [body, content.made];
  let found = 0;
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') pieces.add(value);
    else if (typeof value === 'number') {
      if (value >= 1_000_000) pieces.add(String(value)); // no count, price or port
    } else if (typeof value === 'object' && value !== null) {
      const isList = Array.isArray(value);
      const keys = isList ? [] : Object.keys(value);
      found += isList ? value.length : keys.length;
      if (found > MAX_VALUES) throw new RangeError('too many');
      if (isList) for (const inner of value as unknown[]) left.push(inner);
      for (const key of keys) {
        if (!looksLikeField(key)) pieces.add(key);
        const inner = (value as Record<string, unknown>)[key];
        if (!PLAIN_FIELDS.has(key) || isNoId(inner)) left.push(inner);
      }
    }
    if (found + pieces.size > 2 * MAX_VALUES) throw new RangeError('too many');
  }
  const person = personPattern([body, content.made], content.fieldNames);
  return { pieces, person };
}

const parsed = (rawBody: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(rawBody));

const LETTER = String.raw`[\p{L}\p{M}\p{N}]`;
/** Between the digits of a phone number. */
export const GAP = String.raw`[\s()./\u2010-\u2015-]{0,3}`;
/** What is longer is no name, and has no other spelling. */
const MAX_NAME = 200;

/** The words of a name, an address before its @, and the end of a number with all digits before it. */
function personPattern(
  events: readonly unknown[],
  fieldNames: DeliveryContent['fieldNames'],
): RegExp | undefined {
  const parts = new Set<string>();
  for (const event of events) {
    const called = callDetails(Object(event) as object, fieldNames);
    const { calledName = '', calledEmail = '', calledNumber = '' } = called;
    const names =
      oneLine(calledName.slice(0, MAX_NAME)).match(/(?=\p{N}*\p{L})[\p{L}\p{M}\p{N}]{2,}/gu) ?? [];
    for (const word of [...names, oneLine(calledEmail.slice(0, MAX_NAME)).replace(/@.*/s, '')]) {
      const unaccented = word.normalize('NFKD').replace(/\p{M}/gu, '');
      for (const spelling of [word, word.normalize('NFD'), unaccented]) {
        const literal = spelling.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
        // In "\nAda", the n is no letter of the name. Scripts without case may have no spaces either.
        const whole = String.raw`(?:(?<!${LETTER})|(?<=\\[bfnrt]))${literal}(?!${LETTER})`;
        const hasCase = spelling.toLowerCase() !== spelling.toUpperCase();
        if (spelling.length > 1) parts.add(hasCase ? whole : literal);
      }
    }
    const digits = calledNumber.slice(-MAX_NAME).match(/\d/g)?.slice(-7) ?? [];
    if (digits.length === 7)
      parts.add(String.raw`[+(]{0,2}(?:\d${GAP}){0,12}${digits.join(GAP)}(?!\d)`);
  }
  // The longest first: `ada.king` has to be found before `ada` is.
  const alternatives = [...parts].sort((one, other) => other.length - one.length);
  return parts.size > 0 ? new RegExp(alternatives.join('|'), 'giu') : undefined;
}

interface Delivered {
  readonly content: DeliveryContent;
  values?: Values | undefined;
  body?: unknown;
}
/** By the bytes of a delivery, which may have several errors. */
const deliveries = new WeakMap<Uint8Array, Delivered>();

function knownOf(content: DeliveryContent): Delivered {
  const found = deliveries.get(content.rawBody);
  const { made, fieldNames } = content;
  if (found && found.content.made === made && found.content.fieldNames === fieldNames) return found;
  const fresh: Delivered = { content };
  deliveries.set(content.rawBody, fresh);
  return fresh;
}

/**
 * What is searched for in texts about one delivery; found once for each.
 * @throws RangeError if it is too much
 */
export function valuesOf(content: DeliveryContent): Values {
  const delivered = knownOf(content);
  if (!('values' in delivered)) {
    delivered.values = undefined;
    delivered.values = findValues(content);
  }
  if (!delivered.values) throw new RangeError('too many values');
  return delivered.values;
}

/** The body as it was delivered, parsed once for all texts about it. */
export function deliveredBody(content: DeliveryContent): unknown {
  const delivered = knownOf(content);
  if (!('body' in delivered)) delivered.body = parsed(content.rawBody);
  return delivered.body;
}

/** In the place of a copy of what has a getter that throws, or too many parts. */
const UNREADABLE = Symbol('unreadable');

/**
 * A copy of what a schema made, before a handler gets it: its texts and numbers under the same keys. What
 * cannot be copied is remembered as such, so that texts about it are withheld.
 */
export function copyOf(made: unknown): unknown {
  const seen = new Set<object>();
  let left = MAX_VALUES;
  const copy = (value: unknown): unknown => {
    if (typeof value === 'string' || typeof value === 'number') return value;
    if (typeof value !== 'object' || value === null) return undefined;
    if (seen.has(value)) return undefined; // once is enough
    seen.add(value);
    const isList = Array.isArray(value) || value instanceof Set || value instanceof Map;
    const entries: [string, unknown][] = isList
      ? [...value].map((inner, at) => [String(at), inner])
      : Object.entries(value);
    left -= entries.length;
    if (left < 0) throw new RangeError('too many');
    const copied: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const [key, inner] of entries) copied[isList ? `at${key}` : key] = copy(inner);
    return copied;
  };
  try {
    return copy(made);
  } catch {
    return UNREADABLE;
  }
}
