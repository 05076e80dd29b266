import { parseArgs } from 'node:util';

export const HELP = `npm run bench -- [options]

  --rounds N   counted rounds of each part, 15 by default
  --only TEXT  verify, http, store or import, or contenders whose name holds TEXT (baselines stay in)
  --quick      3 short rounds: shows that everything runs, its figures mean little
  --json FILE  where the figures go, packages/benchmarks/results.json by default
  --chart FILE draws the chart as well, for the docs: docs/images/performance.svg
`;

export interface BenchOptions {
  readonly rounds: number;
  readonly only: string | undefined;
  readonly quick: boolean;
  readonly json: string | undefined;
  readonly chart: string | undefined;
}

/** @throws TypeError with a text for the user */
export function benchOptions(args: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string' },
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      chart: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const { quick, only, json, chart } = values;
  const rounds = Number(values.rounds ?? (quick ? 3 : 15));
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new TypeError('--rounds is a whole number from 1 on.');
  return { rounds, only, quick, json, chart };
}
