import { minutes, type Row } from './rows.ts';
import { ink } from './ink.ts';

const WIDTHS = [6, 42, 32] as const;

const columns = (...texts: string[]) =>
  texts.map((text, index) => text.padEnd(WIDTHS[index] ?? 0)).join(' ');

export const heading = () => ink.dim(columns('clock', 'request', 'response', 'the service'));

/** @param startedAt when the tour started, in milliseconds of the simulated clock */
export function line(row: Row, startedAt: number): string {
  const { at, what, status, answer, then } = row;
  const acknowledged = status >= 200 && status < 300;
  const colour = acknowledged ? ink.green : status >= 400 && status < 500 ? ink.yellow : ink.red;
  const clock = minutes(at - startedAt).padStart(WIDTHS[0] - 1);
  const [left, middle] = [columns(clock, what), answer.padEnd(WIDTHS[2])];
  return `${left} ${colour(middle)} ${acknowledged ? then : ink.yellow(then)}`.trimEnd();
}
