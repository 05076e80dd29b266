import { EVENT_NAMES, fieldKind, isOrdinaryWord, type FieldKind } from '@call-webhooks/core';
import { isDateTime, isEpochMs } from '@call-webhooks/client/infer';
import type { Fakes } from './fakes.ts';

/** Numbers with fewer digits than a phone number: durations, counts, codes. */
const MAX_PLAIN_NUMBER = 999_999;
const DATE_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;
const CONSTANT = /^(?:[a-z]+(?:[ _:.-][a-z]+)*|[A-Z]+(?:[_-][A-Z]+)*)$/;
const FIELD_NAME = /^[a-z_]\w*$/;

/**
 * A copy of a body in which fakes stand for everything that may be personal. That is every value,
 * except for booleans, times, short numbers, names of events, and constants of ordinary words such as
 * `outbound`. In a field whose name says that it is personal, only booleans stay.
 * @param keep names of fields whose values stay as they are
 */
export function anonymize(body: unknown, fakes: Fakes, keep: ReadonlySet<string>): unknown {
  const visit = (value: unknown, field: string, kind: FieldKind): unknown => {
    if (keep.has(field)) return value;
    if (typeof value === 'string')
      return isPlainText(value, field, kind) ? value : fakes.text(value);
    if (typeof value === 'number') return isPlainNumber(value, kind) ? value : fakes.number(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((inner: unknown) => visit(inner, field, kind));
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        keep.has(name) || isFieldName(name) ? name : fakes.text(name),
        visit(inner, name, fieldKind(name, kind)),
      ]),
    );
  };
  return visit(body, '', 'unknown');
}

function isPlainText(text: string, field: string, kind: FieldKind): boolean {
  if (field === 'eventName') return isEventName(text);
  if (kind === 'personal' || /birth|dob/i.test(field)) return false;
  return (DATE_TIME.test(text) && isDateTime(text)) || isConstant(text);
}

const isPlainNumber = (value: number, kind: FieldKind): boolean =>
  kind !== 'personal' &&
  (isEpochMs(value) ||
    (Math.abs(value) <= MAX_PLAIN_NUMBER && (kind === 'technical' || Number.isInteger(value))));

const isEventName = (text: string) =>
  EVENT_NAMES.some((name) => name === text) || isConstant(text.replace(/^call:/, ''));

const isConstant = (text: string) =>
  CONSTANT.test(text) && text.split(/[^A-Za-z]+/).every(isOrdinaryWord);

/** A key may be the name or the number of a person: `{ "Ada Lovelace": 3 }`. */
const isFieldName = (key: string) =>
  !/\d{5}/.test(key) &&
  (FIELD_NAME.test(key) || (/^[A-Z][\w-]*$/i.test(key) && fieldKind(key) !== 'unknown'));
