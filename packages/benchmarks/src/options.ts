import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** What can be measured. Each question is a file. */
const QUESTIONS = {
  verify: 'the CPU time of one signature of 1 KB, beside other libraries',
  http: 'the CPU time of one delivery over HTTP, in node:http, Express and Fastify',
  stores: 'deliveries with Redis, Postgres and SQLite, beside bare statements',
  'remembered-events': 'stores that remember more and more events',
  removal: 'deliveries while 100,000 expired dead letters are removed, beside those without',
  failing: 'deliveries of 1 MB that fail, beside those that succeed',
  'import-cost': 'the CPU time of importing core',
} as const;

export type QuestionName = keyof typeof QUESTIONS;

const list = Object.entries(QUESTIONS)
  .map(([name, about]) => `  ${name.padEnd(18)} ${about}`)
  .join('\n');

export const HELP = `npm run bench -- [questions] [options]

Questions (all of them by default, which takes more than an hour):
${list}

Options:
  --with FOLDER      also measure the build of another checkout, in the same rounds
  --only TEXT        only contenders whose name contains TEXT, and those they are compared with
  --rounds N         counted rounds (default: 15; http has eight times as many, and shorter ones)
  --connections N,M  open connections to each HTTP server (default: 1,16)
  --events N         how many events the fullest stores remember (default: 1000000)
  --quick            one tiny round, to see that everything runs; its figures mean nothing
  --json             print JSON with every round instead of tables
  --chart            print the costs of one question as an SVG

Examples:
  npm run bench -- http
  npm run bench -- http --only express --connections 1,16,64
  npm run bench -- verify http --with ../before
  npm run --silent bench -- stores --rounds 5 --json > packages/benchmarks/results.json
  npm run --silent bench -- http --connections 16 --chart > docs/images/performance.svg
`;

export interface BenchOptions {
  readonly questions: readonly QuestionName[];
  /** The root of another checkout, which is built. */
  readonly other: string | undefined;
  readonly only: string | undefined;
  readonly rounds: number;
  /** Each HTTP server is measured with each of them, with one request at a time on a connection. */
  readonly connections: readonly number[];
  readonly events: number;
  readonly quick: boolean;
  readonly json: boolean;
  readonly chart: boolean;
}

/** @throws TypeError with a message for the user */
export function benchOptions(args: readonly string[]): BenchOptions | 'help' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      with: { type: 'string' },
      only: { type: 'string' },
      rounds: { type: 'string' },
      connections: { type: 'string', default: '1,16' },
      events: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      chart: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const { only, quick, json, chart } = values;
  const questions = positionals.map((name) => {
    if (name in QUESTIONS) return name as QuestionName;
    throw new TypeError(`There is no question ${name}.`);
  });
  return {
    questions: questions.length > 0 ? questions : (Object.keys(QUESTIONS) as QuestionName[]),
    other: values.with === undefined ? undefined : built(values.with),
    only,
    rounds: wholeNumber('rounds', values.rounds ?? (quick ? '1' : '15')),
    connections: values.connections.split(',').map((text) => wholeNumber('connections', text)),
    events: wholeNumber('events', values.events ?? (quick ? '1000' : '1000000')),
    quick,
    json,
    chart,
  };
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new TypeError(`--${name} takes whole numbers of at least 1.`);
}

function built(path: string): string {
  const root = resolve(path);
  if (existsSync(`${root}/packages/core/dist`)) return root;
  throw new TypeError(`--with: ${path} is not built. Run npm ci && npm run build in it.`);
}
