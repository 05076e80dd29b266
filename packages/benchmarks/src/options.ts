import { parseArgs } from 'node:util';

export const HELP = `npm run bench -- [options]

  --rounds N       counted rounds of each part, 15 by default
  --only TEXT      verify, http, store or import, or contenders whose name holds TEXT (baselines stay in)
  --connections N  open at once to each HTTP server, 32 by default; the bars are for 32
  --quick          3 short rounds: shows that everything runs, its figures mean little
  --json FILE      where the figures go, packages/benchmarks/results.json by default
  --chart FILE     draws the chart as well, for the docs: docs/images/performance.svg
`;

export interface BenchOptions {
  readonly rounds: number;
  readonly only: string | undefined;
  /** Open at once to each HTTP server, one request at a time on each. */
  readonly connections: number;
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
      connections: { type: 'string', default: '32' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      chart: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const { quick, only, json, chart } = values;
  return {
    rounds: whole('rounds', values.rounds ?? (quick ? '3' : '15')),
    connections: whole('connections', values.connections),
    only,
    quick,
    json,
    chart,
  };
}

function whole(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new TypeError(`--${name} is a whole number from 1 on.`);
  return number;
}
