import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SIZES } from './events/names.ts';

export const HELP = `npm run bench -- [options]

  --before PATH    also measure a built checkout of another version in the same rounds
  --rounds N       counted rounds of each part (default: 15)
  --only TEXT      one part (verify, http, store, import, stores, queues, workers, processes,
                   events), or contenders whose name contains TEXT, with their baselines
  --events N       how many events the fullest stores remember (default: 1000000; 10000000 takes half
                   an hour, 10 GB of memory and 25 GB of disk)
  --connections N  open connections to each HTTP server (default: 32; the bars are for 32)
  --quick          3 short rounds, to see that everything runs; the figures mean little
  --json FILE      where to write the results (default: packages/benchmarks/results.json)
  --docs           write the tables into docs/performance.md, and draw its charts
`;

export interface BenchOptions {
  /** The root of a built checkout to compare with. */
  readonly before: string | undefined;
  readonly rounds: number;
  readonly only: string | undefined;
  /** Open connections to each HTTP server, with one request at a time on each. */
  readonly connections: number;
  /** How many events the fullest stores remember. */
  readonly events: number;
  readonly quick: boolean;
  readonly json: string | undefined;
  readonly docs: boolean;
}

/** @throws TypeError with a message for the user */
export function benchOptions(args: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      before: { type: 'string' },
      rounds: { type: 'string' },
      only: { type: 'string' },
      connections: { type: 'string', default: '32' },
      events: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      docs: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const { before, quick, only, json, docs } = values;
  return {
    before: before === undefined ? undefined : checkout(before),
    rounds: wholeNumber('rounds', values.rounds ?? (quick ? '3' : '15')),
    connections: wholeNumber('connections', values.connections),
    events: sizeOf(values.events ?? (quick ? '100000' : '1000000')),
    only,
    quick,
    json,
    docs,
  };
}

function sizeOf(text: string): number {
  const [, ...sizes] = SIZES;
  const size = sizes.find((one) => String(one) === text);
  if (size === undefined)
    throw new TypeError(`--events must be one of ${sizes.map(String).join(', ')}.`);
  return size;
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new TypeError(`--${name} must be a whole number of at least 1.`);
  return number;
}

function checkout(path: string): string {
  const root = resolve(path);
  if (!existsSync(`${root}/packages/core/dist/bundle/index.js`))
    throw new TypeError(
      `--before: ${path} is not a built checkout. Run npm ci && npm run build in it.`,
    );
  return root;
}
