import { all, type Column } from './columns.ts';
import { isDateTime, isEpochMs } from './formats.ts';
import { propose, type Candidate, type Proposal } from './proposal.ts';

/** The three fields that hold a time. */
export type TimeField = 'createdAt' | 'dialedAt' | 'endedAt';

/**
 * Finds the three times of a call by their formats, by their order, and by the events that carry
 * them: only `call:completed` has an end.
 *
 * @param sawStarted whether any body of `call:started` was captured
 */
export function inferTimes(columns: readonly Column[], sawStarted: boolean): Proposal<TimeField>[] {
  const steady = columns.filter((column) => column.steady);
  const created = steady.filter((column) => all(column, isEpochMs));
  const dates = steady.filter((column) => all(column, isDateTime));
  return [propose('createdAt', created.map(createdReason)), ...inferDates(dates, sawStarted)];
}

function inferDates(dates: readonly Column[], sawStarted: boolean): Proposal<TimeField>[] {
  const atStart = dates.filter(isAtStart);
  const atEnd = dates.filter((column) => !isAtStart(column));
  if (atStart.length > 0) {
    const ends = atEnd.filter((end) => atStart.some((start) => isBefore(start, end)));
    return [
      propose('dialedAt', atStart.map(dialedReason)),
      propose('endedAt', ends.map(endReason)),
    ];
  }
  if (atEnd.length === 1 && sawStarted)
    return [propose('dialedAt', []), propose('endedAt', atEnd.map(endReason))];
  const [one, other] = atEnd;
  if (atEnd.length === 2 && one !== undefined && other !== undefined) {
    if (isBefore(one, other)) return inOrder(one, other);
    if (isBefore(other, one)) return inOrder(other, one);
  }
  const candidates = atEnd.map((column) => because(column, 'a date and time of call:completed'));
  return [propose('dialedAt', candidates, false), propose('endedAt', candidates, false)];
}

function inOrder(earlier: Column, later: Column): Proposal<TimeField>[] {
  return [
    propose('dialedAt', [because(earlier, `a date and time, never after "${later.name}"`)]),
    propose('endedAt', [because(later, `a date and time, never before "${earlier.name}"`)]),
  ];
}

function isAtStart(column: Column): boolean {
  return column.cells.some(({ body }) => !body.completed);
}

/** Whether one time is never after the other, and before it at least once. */
function isBefore(first: Column, second: Column): boolean {
  const gaps = second.cells.flatMap(({ body, value }) => {
    const start = body.fields[first.name];
    return isDateTime(start) ? [Date.parse(value as string) - Date.parse(start)] : [];
  });
  return gaps.every((gap) => gap >= 0) && gaps.some((gap) => gap > 0);
}

function because(column: Column, ...reasons: string[]): Candidate {
  return { name: column.name, reasons };
}

const createdReason = (column: Column): Candidate =>
  because(column, 'epoch milliseconds, the same in every event of a call');
const dialedReason = (column: Column): Candidate =>
  because(column, 'a date and time that call:started carries already');
const endReason = (column: Column): Candidate =>
  because(column, 'a date and time that only call:completed carries');
