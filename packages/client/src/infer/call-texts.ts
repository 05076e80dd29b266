import { all, distinct, type Column } from './columns.ts';
import {
  canNameUser,
  isEmail,
  isFullName,
  isPhoneNumber,
  isPlainDigits,
  isStatusWord,
  isWords,
} from './formats.ts';
import { matchCandidates, propose, type Candidate, type Proposal } from './proposal.ts';
import type { CallBody, Samples } from './samples.ts';

/** The four fields that hold a text. */
export type TextField = 'placedBy' | 'calledNumber' | 'calledEmail' | 'calledName';

/**
 * Finds the four texts of a call by their formats, and the user by the recording event of the same
 * call. A field that fits two meanings is settled by what fits the others.
 */
export function inferTexts(
  columns: readonly Column[],
  recordings: Samples['recordings'],
): Proposal<TextField>[] {
  const texts = columns.filter(({ steady }) => steady).filter((column) => all(column, isText));
  const numbers = numberColumns(texts);
  const people = texts.filter((column) => !isShared(column, numbers));
  const words = people.filter((column) => all(column, isWords) && !all(column, isStatusWord));
  const full = words.filter(({ cells }) => cells.some(({ value }) => isFullName(value)));
  const proposals = matchCandidates<TextField>({
    placedBy: userCandidates(texts, recordings),
    calledNumber: numbers.map((column) => because(column, 'telephone numbers')),
    calledEmail: people.filter((column) => all(column, isEmail)).map(emailReason),
    calledName: full.length > 0 ? full.map(nameReason) : words.map(wordReason),
  });
  // A single word may be a name, and so much else.
  return proposals.map((one) =>
    one.setting === 'calledName' && full.length === 0
      ? propose('calledName', one.candidates, false)
      : one,
  );
}

/** Telephone numbers other than the service number. Digits alone count only where nothing else does. */
function numberColumns(texts: readonly Column[]): Column[] {
  const numbers = texts.filter(
    (column) =>
      all(column, isPhoneNumber) &&
      !all(column, (value, { fields }) => holds(fields['fromPhoneNumber'], digits(value))),
  );
  const written = numbers.filter((column) => !all(column, isPlainDigits));
  return written.length > 0 ? written : numbers;
}

/** Whether a value is the same for three different numbers called: it is not of the person called. */
function isShared(column: Column, numbers: readonly Column[]): boolean {
  const [number] = numbers;
  if (numbers.length !== 1 || number === undefined || distinct(column) > 1) return false;
  const bodies = new Set(column.cells.map(({ body }) => body));
  const called = number.cells.filter(({ body }) => bodies.has(body));
  return new Set(called.map(({ value }) => value)).size >= 3;
}

/** The user is in every body. The recording event names the same user, under a name that is known. */
function userCandidates(texts: readonly Column[], recordings: Samples['recordings']): Candidate[] {
  const always = texts.filter((column) => column.always);
  const recorded = (column: Column, name: 'userId' | 'workspaceId'): boolean => {
    const cells = column.cells.filter(({ body }) => recordingOf(body, recordings)?.[name]);
    return (
      cells.length > 0 &&
      cells.every(({ body, value }) => recordingOf(body, recordings)?.[name] === value)
    );
  };
  const equal = always.filter((column) => recorded(column, 'userId'));
  if (equal.length > 0)
    return equal.map((column) =>
      because(column, 'equals userId of the recording event of its call'),
    );
  const others = always.filter(
    (column) =>
      all(column, (value, { fields }) => canNameUser(value) && value !== fields['callId']) &&
      !recorded(column, 'workspaceId'),
  );
  // Words such as "outbound" are in every body too.
  const ids = others.filter((column) => !all(column, isStatusWord));
  return (ids.length > 0 ? ids : others).map((column) =>
    because(column, 'a text that can name a user, in every event'),
  );
}

function recordingOf(
  { call }: CallBody,
  recordings: Samples['recordings'],
): Readonly<Record<string, unknown>> | undefined {
  return typeof call === 'string' ? recordings.get(call) : undefined;
}

/** Whether an object holds a text with the same digits, at any depth up to three. */
function holds(value: unknown, wanted: string, depth = 0): boolean {
  if (typeof value === 'string') return digits(value) === wanted;
  if (typeof value !== 'object' || value === null || depth === 3) return false;
  return Object.values(value).some((inner) => holds(inner, wanted, depth + 1));
}

const isText = (value: unknown): boolean => typeof value === 'string';
const digits = (value: unknown): string => String(value).replace(/\D/g, '');
const because = ({ name }: Column, ...reasons: string[]): Candidate => ({ name, reasons });
const nameReason = (column: Column): Candidate => because(column, 'full names');
const wordReason = (column: Column): Candidate =>
  because(column, 'single words: names, or something else');
const emailReason = (column: Column): Candidate => because(column, 'email addresses');
