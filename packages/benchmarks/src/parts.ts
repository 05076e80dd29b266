import { HTTP, VERIFY, type HttpName, type VerifyName } from './contenders.ts';
import type { BenchOptions } from './options.ts';
import type { Part } from './report/figures.ts';
import { progress } from './report/progress.ts';
import { checkAnswers } from './running/answers.ts';
import { httpRunner, type HttpRunner } from './running/http-runner.ts';
import { buildNextApp } from './running/next-build.ts';
import { importRunner } from './running/import-runner.ts';
import { runRounds, type Round, type Runner } from './running/rounds.ts';
import { storeRunner } from './running/store-runner.ts';
import { verifyRunner } from './running/verify-runner.ts';

type Rounds = Round<string>[];

/** What others are divided by: they run whatever `--only` says. */
const BASELINES = ['node bare', 'express raw', 'fastify raw', 'next route', 'createHmac'];

/** Whether `--only` wants this part, or something in it. */
export const isWanted = (part: Part, { only }: BenchOptions, names: readonly string[] = []) =>
  only === undefined || part === only || names.some((name) => name.includes(only));

function chosen<Name extends string>(part: Part, names: Name[], { only }: BenchOptions): Name[] {
  if (only === undefined || only === part) return names;
  return names.filter((name) => name.includes(only) || BASELINES.includes(name));
}

async function measured<Name extends string, One extends Runner>(
  part: Part,
  names: readonly Name[],
  start: (name: Name) => Promise<One>,
  { rounds, quick }: BenchOptions,
  look?: (runners: Record<Name, One>) => unknown,
): Promise<Rounds> {
  const runners = {} as Record<Name, One>;
  const warmUps = quick ? 1 : 3;
  const shown = progress(part, names.length * (rounds + warmUps));
  try {
    for (const name of names) runners[name] = await start(name);
    await look?.(runners);
    return await runRounds(runners, { rounds, warmUps, onTurn: () => shown.onTurn() });
  } finally {
    shown.done();
    await Promise.all(Object.values<One>(runners).map((runner) => runner.stop()));
  }
}

export function verifyPart(options: BenchOptions): Promise<Rounds> {
  const names = chosen('verify', Object.keys(VERIFY) as VerifyName[], options);
  const operations = options.quick ? 2_000 : 60_000;
  return measured('verify', names, (name) => verifyRunner(name, operations), options);
}

export async function httpPart(options: BenchOptions): Promise<Rounds> {
  const names = chosen('http', Object.keys(HTTP) as HttpName[], options);
  const requests = options.quick ? 400 : 8_000;
  if (names.some((name) => name.startsWith('next'))) await buildNextApp();
  const start = (name: HttpName) =>
    httpRunner(name, 'slow' in HTTP[name] ? requests / 8 : requests, options.connections);
  // In processes made anew, thrice: one may have luck with where its code and data lie in memory.
  const sittings = options.quick ? 1 : 3;
  const each = { ...options, rounds: Math.ceil(options.rounds / sittings) };
  const all: Rounds = [];
  for (let sitting = 0; sitting < sittings; sitting++)
    all.push(...(await measured<HttpName, HttpRunner>('http', names, start, each, checkAnswers)));
  return all;
}

export function importPart(options: BenchOptions): Promise<Rounds> {
  const packages = { zod: 'zod', core: '@call-webhooks/core' };
  const names = ['zod', 'core'] as const;
  return measured(
    'import',
    names,
    (name) => Promise.resolve(importRunner(packages[name])),
    options,
  );
}

/** The memory store at several sizes; `look` sees the largest. */
export function storePart(
  options: BenchOptions,
  look: (size: number, runner: Awaited<ReturnType<typeof storeRunner>>) => Promise<void>,
): Promise<Rounds> {
  const sizes = options.quick ? ['1000', '100000'] : ['1000', '100000', '1000000'];
  return measured(
    'store',
    sizes,
    (size) => storeRunner(Number(size)),
    options,
    async (runners) => {
      const largest = sizes.at(-1) as string;
      await look(Number(largest), runners[largest] as Awaited<ReturnType<typeof storeRunner>>);
    },
  );
}
