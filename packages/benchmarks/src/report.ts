import { styleText } from 'node:util';
import { OTHER, type Round } from './rounds.ts';

/** What one question found. */
export interface Result {
  readonly title: string;
  readonly rounds: readonly Round[];
  /** Contenders that are divided by others. */
  readonly compare: readonly (readonly [over: string, under: string])[];
}

/** The median of some values, and the limits of their middle half. */
interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number) => {
    const [below, above] = [Math.floor, Math.ceil].map(
      (round) => sorted[round((sorted.length - 1) * part)] ?? NaN,
    ) as [number, number];
    return (below + above) / 2;
  };
  return { median: at(0.5), low: at(0.25), high: at(0.75) };
}

type Rows = Record<string, Record<string, Spread>>;

/** What each contender costs, and what it costs in relation to others. */
export function figuresOf({ rounds, compare }: Result): { costs: Rows; ratios: Rows } {
  const contenders = Object.keys(rounds[0] ?? {});
  const others = contenders.map((name) => [name, name + OTHER] as const);
  const pairs = [...compare, ...others].filter((pair) =>
    pair.every((name) => contenders.includes(name)),
  );
  const measures = (name: string) => Object.keys(rounds[0]?.[name] ?? {});
  const value = (round: Round, name: string, measure: string) => round[name]?.[measure] ?? NaN;
  return {
    costs: rowsOf(contenders, (name) => [
      name,
      columnsOf(measures(name), (measure) => rounds.map((round) => value(round, name, measure))),
    ]),
    // Divided within each round, so that a slow moment of the machine is in both and cancels out.
    ratios: rowsOf(pairs, ([over, under]) => [
      `${over} ÷ ${under}`,
      columnsOf(measures(over), (measure) =>
        rounds.map((round) => value(round, over, measure) / value(round, under, measure)),
      ),
    ]),
  };
}

const rowsOf = <One>(list: readonly One[], row: (one: One) => [string, Rows[string]]): Rows =>
  Object.fromEntries(list.map(row));
const columnsOf = (measures: readonly string[], values: (measure: string) => number[]) =>
  Object.fromEntries(measures.map((measure) => [measure, spread(values(measure))]));

/** The same for a terminal: medians, with the middle half in brackets. */
export function tables(result: Result): string {
  const { costs, ratios } = figuresOf(result);
  const title = `${result.title} (rounds: ${String(result.rounds.length)})`;
  return [table(title, costs), table('÷', ratios)].filter((text) => text !== '').join('\n');
}

function table(title: string, rows: Rows): string {
  const measures = [...new Set(Object.values(rows).flatMap((row) => Object.keys(row)))];
  if (measures.length === 0) return '';
  const cells = Object.entries(rows).map(([name, row]) => [
    name,
    ...measures.map((measure) => cell(row[measure])),
  ]);
  const lines = [[title, ...measures], ...cells];
  const widths = [title, ...measures].map((_none, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const [head = '', ...body] = lines.map((line) =>
    line.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '),
  );
  return `${[styleText('bold', head), ...body].map((line) => line.trimEnd()).join('\n')}\n`;
}

const cell = (figure: Spread | undefined): string =>
  figure ? `${figure.median.toFixed(2)} (${figure.low.toFixed(2)}–${figure.high.toFixed(2)})` : '';
