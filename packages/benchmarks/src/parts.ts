import { packageUrl, THIS_VERSION } from './checkout.ts';
import {
  baseName,
  HTTP,
  isBefore,
  withBefore,
  type HttpName,
  type Versioned,
} from './contenders.ts';
import { buildNextApp } from './http/next.ts';
import type { BenchOptions } from './options.ts';
import type { Delay } from './processes/messages.ts';
import type { QueuesPart } from './queues/names.ts';
import { progress, runRounds, type Round, type Runner } from './rounds.ts';
import { checkResponse, httpRunner, importRunner, storeRunner, verifyRunner } from './runners.ts';
import type { StoresPart } from './stores/names.ts';
import { VERIFY, type VerifyName } from './verify.ts';

/** The parts of a run; each has its own rounds. */
export type Part =
  'verify' | 'http' | 'store' | 'import' | StoresPart | QueuesPart | 'processes' | 'events';

/** The memory of a full store, and how late the event loop is while the store evicts. */
export interface Memory {
  readonly size: number;
  readonly bytesPerId: number;
  readonly delays: { readonly busy: Delay; readonly idle: Delay };
}

/** The contenders that others are divided by: they run with every selected contender. */
const BASELINES = [
  ...['node bare', 'express raw', 'fastify raw', 'next route', 'createHmac'],
  'sqlite + transaction',
];

/** Whether `--only` selects this part, or a contender in it. */
export const isSelected = (part: Part, { only }: BenchOptions, names: readonly string[] = []) =>
  only === undefined || part === only || names.some((name) => name.includes(only));

function selected<Name extends string>(
  part: Part,
  names: readonly Name[],
  { only, before }: BenchOptions,
): Versioned<Name>[] {
  if (only === undefined || only === part) return withBefore(names, before);
  const named = names.filter((name) => name.includes(only));
  const needsBaseline = (baseline: string) =>
    named.some((name) => part === 'verify' || firstWord(name) === firstWord(baseline));
  return withBefore(
    names.filter(
      (name) => named.includes(name) || (BASELINES.includes(name) && needsBaseline(name)),
    ),
    before,
  );
}

const firstWord = (name: string) => name.split(' ', 1)[0];

async function measure<Name extends string, One extends Runner>(
  part: Part,
  names: readonly Name[],
  start: (name: Name) => Promise<One> | One,
  { rounds, quick, warmUps = quick ? 1 : 3 }: BenchOptions & { warmUps?: number },
  onStarted?: (runners: Record<Name, One>) => unknown,
): Promise<Round[]> {
  const runners = {} as Record<Name, One>;
  const shown = progress(part, names.length * (rounds + warmUps));
  try {
    for (const name of names) runners[name] = await start(name);
    await onStarted?.(runners);
    return await runRounds(runners, { rounds, warmUps, onTurn: () => shown.onTurn() });
  } finally {
    shown.done();
    await Promise.all(Object.values<One>(runners).map((runner) => runner.stop()));
  }
}

/** The checkout that a contender runs on. */
const rootOf = (name: string, { before }: BenchOptions): string =>
  isBefore(name) ? (before as string) : THIS_VERSION;

export function verifyPart(options: BenchOptions): Promise<Round[]> {
  const operations = options.quick ? 2_000 : 60_000;
  return measure(
    'verify',
    selected('verify', Object.keys(VERIFY) as VerifyName[], options),
    (name) => verifyRunner(baseName(name), rootOf(name, options), operations),
    options,
  );
}

/** HTTP rounds are short, and there are more: what else the machine does changes within a second. */
const HTTP_ROUNDS = 8;

export async function httpPart(options: BenchOptions): Promise<Round[]> {
  const names = selected('http', Object.keys(HTTP) as HttpName[], options);
  const requests = options.quick ? 400 : 1_000;
  const next = names.filter((name) => name.startsWith('next'));
  for (const root of new Set(next.map((name) => rootOf(name, options)))) await buildNextApp(root);
  const start = async (versioned: Versioned<HttpName>) => {
    const name = baseName(versioned);
    const each = 'slow' in HTTP[name] ? requests / 8 : requests;
    const runner = await httpRunner(name, rootOf(versioned, options), each, options.connections);
    checkResponse(name, runner.response);
    return runner;
  };
  // Three times in new processes: one process may be lucky with where its code and data are.
  const starts = options.quick ? 1 : 3;
  const rounds = Math.ceil((options.rounds * HTTP_ROUNDS) / starts);
  const each = options.quick ? options : { ...options, rounds, warmUps: 3 * HTTP_ROUNDS };
  const all: Round[] = [];
  for (let i = 0; i < starts; i++) all.push(...(await measure('http', names, start, each)));
  return all;
}

export function importPart(options: BenchOptions): Promise<Round[]> {
  return measure(
    'import',
    withBefore(['zod', 'core'], options.before),
    (name) => importRunner(name === 'zod' ? 'zod' : packageUrl(rootOf(name, options), 'core')),
    options,
  );
}

/** The memory store at several sizes. `onMemory` gets the figures of the largest. */
export function storePart(
  options: BenchOptions,
  onMemory: (name: string, memory: Memory) => void,
): Promise<Round[]> {
  const sizes = options.quick ? ['1000', '100000'] : ['1000', '100000', '1000000'];
  const size = Number(sizes.at(-1));
  return measure(
    'store',
    withBefore(sizes, options.before),
    (name) => storeRunner(Number(baseName(name)), rootOf(name, options)),
    options,
    async (runners) => {
      for (const [name, runner] of Object.entries(runners)) {
        if (Number(baseName(name)) !== size) continue;
        const delays = await runner.delays(options.quick ? 1 : 15);
        onMemory(name, { size, bytesPerId: runner.bytesPerId, delays });
      }
    },
  );
}
