import { styleText } from 'node:util';
import type { Round } from '../rounds.ts';
import type { Figure } from './figures.ts';
import type { MeasuredSection } from './sections.ts';
import { ratio, spread, withSpread } from './statistics.ts';

type Row = readonly string[];

const RESULTS = {
  aim: ['aim reached', 'green'],
  bar: ['bar reached', 'yellow'],
  missed: ['missed', 'red'],
} as const;

/** What each contender costs, and its cost divided by the first one's. */
export function costTable(title: string, rounds: readonly Round[], cost = 'CPU each'): string {
  const names = Object.keys(rounds[0] ?? {});
  const [base = ''] = names;
  const rows = names.map((name) => {
    const each = spread(rounds.map((round) => round[name] as number));
    return [name, `${each.median.toFixed(2)} µs`, withSpread(ratio(rounds, name, base))];
  });
  return textTable([[title, cost, `÷ ${base}`], ...rows]);
}

/** @param title the head of the first column */
export const figureTable = (title: string, figures: readonly Figure[]): string =>
  textTable(
    figureRows(title, figures).map((row, index) => {
      const figure = figures[index - 1];
      return figure
        ? [...row.slice(0, -1), styleText(RESULTS[figure.result][1], row.at(-1) as string)]
        : row;
    }),
  );

/** The same for a Markdown page. */
export function markdownTable(title: string, figures: readonly Figure[]): string {
  return markdown(figureRows(title, figures));
}

/** A table of ratios that have no bar. */
export const sectionTable = (section: MeasuredSection): string => textTable(sectionRows(section));
export const sectionMarkdown = (section: MeasuredSection): string => markdown(sectionRows(section));

const sectionRows = ({ head, rows }: MeasuredSection): Row[] => [
  head,
  ...rows.map(({ name, cells }) => [name, ...cells]),
];

const markdown = ([head = [], ...rows]: readonly Row[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

function figureRows(title: string, figures: readonly Figure[]): Row[] {
  const rows = figures.map(({ name, want, bar, aim, ratio: value, result }) => {
    const sign = want === 'least' ? '≥' : '≤';
    return [name, withSpread(value), `${sign} ${bar}`, `${sign} ${aim}`, RESULTS[result][0]];
  });
  return [[title, 'median (middle half)', 'bar', 'aim', 'result'], ...rows];
}

function textTable(rows: readonly Row[]): string {
  const widths = (rows[0] ?? []).map((_none, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line, index) => (index === 0 ? styleText('bold', line) : line))
    .join('\n');
}
