import { styleText } from 'node:util';
import { minutes, type Row } from './rows.ts';

/** With the last column, a row fits into 80 columns. */
const WIDTHS = [5, 28, 30] as const;

const columns = (...texts: string[]) =>
  texts.map((text, index) => text.padEnd(WIDTHS[index] ?? 0)).join(' ');

export const heading = () =>
  styleText('dim', columns('clock', 'request', 'response', 'the service'));

/** @param startedAt when the tour started, in milliseconds of the simulated clock */
export function line(row: Row, startedAt: number): string {
  const { at, what, status, answer, then } = row;
  const acknowledged = status >= 200 && status < 300;
  const color = acknowledged ? 'green' : status >= 400 && status < 500 ? 'yellow' : 'red';
  const clock = minutes(at - startedAt).padStart(WIDTHS[0]);
  const [left, middle] = [columns(clock, what), answer.padEnd(WIDTHS[2])];
  return `${left} ${styleText(color, middle)} ${acknowledged ? then : styleText('yellow', then)}`.trimEnd();
}
