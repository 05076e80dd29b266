import type { Part } from '../parts.ts';
import { QUEUES, type QueueName } from '../queues/names.ts';
import type { Parts } from './figures.ts';
import { ratio, type Spread } from './statistics.ts';

/** The cost of `over` divided by the cost of `under`, within each round. */
interface Quotient {
  readonly part: Part;
  readonly over: string;
  readonly under: string;
}

/** A table of ratios without bars. */
interface Section {
  /** The name of its markers in the page. */
  readonly name: string;
  readonly head: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly Quotient[] }[];
}

/** A section with its measured ratios. */
export interface MeasuredSection {
  readonly name: string;
  readonly head: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly Spread[] }[];
}

const ENGINES = Object.entries(QUEUES) as [QueueName, string][];

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
];

/** The sections that a run has the rounds for, each with the rows that it has. */
export function measuredSections(parts: Parts): MeasuredSection[] {
  return SECTIONS.flatMap(({ name, head, rows }) => {
    const measured = rows.flatMap((row) => {
      const cells = row.cells.map((cell) => quotient(parts, cell));
      return cells.every((cell) => cell !== undefined) ? [{ name: row.name, cells }] : [];
    });
    return measured.length === 0 ? [] : [{ name, head, rows: measured }];
  });
}

function quotient(parts: Parts, { part, over, under }: Quotient): Spread | undefined {
  const rounds = (parts[part] ?? []).filter((round) => over in round && under in round);
  return rounds.length === 0 ? undefined : ratio(rounds, over, under);
}
