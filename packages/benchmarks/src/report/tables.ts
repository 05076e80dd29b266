import { styleText } from 'node:util';
import type { Round } from '../running/rounds.ts';
import type { Figure } from './figures.ts';
import { ratio, spread, type Spread } from './ratios.ts';

const COLOURS = { aim: 'green', bar: 'yellow', missed: 'red' } as const;
const MARKS = { aim: 'aim reached', bar: 'bar reached', missed: 'missed' } as const;

/** What each contender costs, and how that stands to the first one. */
export function costTable(title: string, rounds: readonly Round<string>[]): string {
  const names = Object.keys(rounds[0] ?? {});
  const [base = ''] = names;
  const rows = names.map((name) => {
    const cost = spread(rounds.map((round) => round[name] as number));
    return [name, `${cost.median.toFixed(2)} µs`, withSpread(ratio(rounds, name, base))];
  });
  return table([[title, 'CPU each', `÷ ${base}`], ...rows]);
}

export function figureTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, want, bar, aim, ratio: value, verdict }) => {
    const sign = want === 'least' ? '≥' : '≤';
    const mark = styleText(COLOURS[verdict], MARKS[verdict]);
    return [name, withSpread(value), `${sign} ${bar}`, `${sign} ${aim}`, mark];
  });
  return table([['figure', 'median (middle half)', 'bar', 'aim', ''], ...rows]);
}

const withSpread = ({ median, low, high }: Spread) =>
  `${median.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_none, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line, index) => (index === 0 ? styleText('bold', line) : line))
    .join('\n');
}
