import type { Part } from '../parts.ts';
import { QUEUES, type QueueName } from '../queues/names.ts';
import { contender, FILLED, SIZES, type FilledName } from '../events/names.ts';
import type { Results } from './results.ts';
import { PROCESSES, SHARED, type SharedName } from '../shared/names.ts';
import { ratio, withSpread } from './statistics.ts';

/** The cost of `over` divided by the cost of `under`, within each round. */
interface Quotient {
  readonly part: Part;
  readonly over: string;
  readonly under: string;
}

/** What one event takes in a contender's store. */
interface Bytes {
  readonly bytesIn: readonly string[];
}

type Cell = Quotient | Bytes;

/** A table of ratios without bars. */
interface Section {
  /** The name of its markers in the page. */
  readonly name: string;
  readonly head: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly Cell[] }[];
}

/** A section with what was measured. */
export interface MeasuredSection {
  readonly name: string;
  readonly head: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly string[] }[];
}

const ENGINES = Object.entries(QUEUES) as [QueueName, string][];

const [FEWEST, ...LARGER] = SIZES;
const [ONE, ...MORE] = PROCESSES;
const power = (size: number) => `1e${String(Math.log10(size))}`;

/** How many per second, and the CPU time of each, against the floor of the engine. */
const againstFloor = (part: 'queues' | 'workers', contender: string, floor: string): Quotient[] => [
  { part, over: floor, under: contender },
  { part: `${part}Cpu`, over: contender, under: floor },
];

export const SECTIONS: readonly Section[] = [
  {
    name: 'queues',
    head: ['hand-off to a queue', 'per second ÷ bare call', 'CPU ÷ bare call'],
    rows: ENGINES.flatMap(([name, label]) => [
      {
        name: `${label}: enqueue`,
        cells: againstFloor('queues', `${name} enqueue`, `${name} floor`),
      },
      { name: `${label}: receiver`, cells: againstFloor('queues', name, `${name} floor`) },
    ]),
  },
  {
    name: 'workers',
    head: ['worker', 'jobs per second ÷ bare worker', 'CPU ÷ bare worker'],
    rows: ENGINES.map(([name, label]) => ({
      name: label,
      cells: againstFloor('workers', name, `${name} floor`),
    })),
  },
  {
    name: 'processes',
    head: ['deliveries per second ÷ one process', ...MORE.map((count) => String(count))],
    rows: (Object.entries(SHARED) as [SharedName, string][]).map(([name, label]) => ({
      name: label,
      cells: MORE.map((count) => ({
        part: 'processes',
        over: `${name} ${String(ONE)}`,
        under: `${name} ${String(count)}`,
      })),
    })),
  },
  {
    name: 'events',
    head: [
      'remembered events',
      ...LARGER.map((size) => `${power(size)} ÷ ${power(FEWEST)}`),
      'bytes',
    ],
    rows: (Object.entries(FILLED) as [FilledName, string][]).map(([name, label]) => ({
      name: label,
      cells: [
        ...LARGER.map((size): Quotient => ({
          part: 'events',
          over: contender(name, size),
          under: contender(name, FEWEST),
        })),
        { bytesIn: SIZES.map((size) => contender(name, size)) },
      ],
    })),
  },
];

type Measured = Pick<Results, 'parts' | 'bytesPerEvent'>;

/** The sections that a run has the rounds for, each with the rows that it has. */
export function measuredSections(results: Measured): MeasuredSection[] {
  return SECTIONS.flatMap(({ name, head, rows }) => {
    const measured = rows.flatMap((row) => {
      const cells = row.cells.map((cell) => textOf(results, cell));
      if (cells.every((cell) => cell === undefined)) return [];
      return [{ name: row.name, cells: cells.map((cell) => cell ?? '–') }];
    });
    return measured.length === 0 ? [] : [{ name, head, rows: measured }];
  });
}

function textOf({ parts, bytesPerEvent }: Measured, cell: Cell): string | undefined {
  if ('bytesIn' in cell) {
    const measured = cell.bytesIn.flatMap((name) => bytesPerEvent[name] ?? []);
    return measured.at(-1)?.toFixed(0); // of the largest store
  }
  const { part, over, under } = cell;
  const rounds = (parts[part] ?? []).filter((round) => over in round && under in round);
  return rounds.length === 0 ? undefined : withSpread(ratio(rounds, over, under));
}
