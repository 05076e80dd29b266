import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DeadLetters, Store } from '@call-webhooks/core';
import type { QueueJobs, StoreModule, StoreProblem, StoreReport } from '@call-webhooks/core/stores';
import { badInput, environmentError } from '../errors.ts';
import type { Engine } from './engine.ts';

/** The methods that commands call, by the part that has them. */
const NEEDED = {
  store: ['admit', 'complete', 'release', 'extend'],
  deadLetters: [
    ...['put', 'list', 'count', 'get', 'remove'],
    ...['claim', 'extend', 'settle', 'giveBack'],
  ],
  jobs: ['list', 'erase', 'forget'],
} as const satisfies {
  store: readonly (keyof Store)[];
  deadLetters: readonly (keyof DeadLetters)[];
  jobs: readonly (keyof QueueJobs)[];
};

/** Whether a store is a module: a path with the ending of one, or `file:`. */
export const isModule = (url: string): boolean =>
  url.startsWith('file:') || (/\.[cm]?[jt]s$/.test(url) && !/^\w{2,}:/.test(url));

/** Opens the store that a module of the user exports. */
export const openModule: Engine = async ({ url, prefix, readOnly }) => {
  const file = url.startsWith('file:') ? fileURLToPath(url) : resolve(url);
  if (!existsSync(file)) throw environmentError(`There is no file ${url}.`, 'Check the path.');
  const { default: exported } = (await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw environmentError(
      `The module ${url} cannot be loaded: ${String(error)}`,
      /\.[cm]?ts$/.test(file) && !Reflect.get(process.features, 'typescript')
        ? 'This version of Node.js cannot load TypeScript. Compile the module to .mjs, or use Node.js 22.18 or later.'
        : 'Run the module by itself to see where it fails: node MODULE',
    );
  })) as { default?: unknown };
  const given: unknown =
    typeof exported === 'function'
      ? await (exported as (options: object) => unknown)({ prefix, readOnly })
      : exported;
  const { store, deadLetters, jobs, inspect, close } = checked(url, given);
  return {
    ...{ store, deadLetters, jobs },
    async inspect() {
      const doubts = async () =>
        prefix === undefined
          ? []
          : await prefixProblems({ store, deadLetters }, { url, prefix, exported });
      if (inspect) {
        const report = checkedReport(url, await inspect());
        return { ...report, problems: [...report.problems, ...(await doubts())] };
      }
      // Something has to be asked, or a server that is down would look well.
      await Promise.all([store.peek?.(['a check']), deadLetters.list({ limit: 1 })]);
      return { server: url, problems: await doubts() };
    },
    emptiness: `The store of ${url} has no deliveries and no dead letters. Check that it is the store of the receiver, and --prefix.`,
    close: async () => close?.(),
  };
};

interface GivenPrefix {
  readonly url: string;
  readonly prefix: string;
  /** The default export of the module. */
  readonly exported: unknown;
}

/** A prefix that has no effect, or with which the store is empty, as far as its log tells. */
async function prefixProblems(
  { store: { log }, deadLetters }: Pick<StoreModule, 'store' | 'deadLetters'>,
  { url, prefix, exported }: GivenPrefix,
): Promise<StoreProblem[]> {
  if (typeof exported !== 'function')
    return [
      {
        result: 'warn',
        text: `--prefix ${prefix} has no effect, because ${url} exports an object.`,
        fix: 'Leave out --prefix, or export a function: it is called with { prefix, readOnly }.',
      },
    ];
  if (!log || (await deadLetters.count()) > 0) return [];
  const [processes, { marks }] = await Promise.all([log.processes(), log.marks()]);
  if (processes.length > 0 || Object.keys(marks).length > 0) return [];
  return [
    {
      result: 'warn',
      text: `With --prefix ${prefix}, the store of ${url} has no deliveries and no dead letters.`,
      fix: 'Check --prefix, and that the module passes it to its store.',
    },
  ];
}

/** @throws CliError 2 with everything that is missing */
function checked(url: string, given: unknown): StoreModule {
  const parts = Object(given) as Record<string, unknown>;
  const missing = Object.entries(NEEDED).flatMap(([part, methods]) => {
    const value = parts[part];
    if (value === undefined && part === 'jobs') return [];
    if (typeof value !== 'object' || value === null) return [part];
    return methods
      .filter((method) => typeof Reflect.get(value, method) !== 'function')
      .map((method) => `${part}.${method}`);
  });
  if (missing.length === 0) return parts as unknown as StoreModule;
  throw badInput(
    `The default export of ${url} does not have ${missing.join(', ')}.`,
    'Export { store, deadLetters }, or a function that returns them: see docs/write-a-store.md.',
  );
}

/** @throws CliError 2 that names the first member of the report which is wrong */
function checkedReport(url: string, report: unknown): StoreReport {
  const { server, problems } = Object(report) as Record<string, unknown>;
  if (typeof server !== 'string') throw badReport(url, 'server', 'a string');
  if (!Array.isArray(problems)) throw badReport(url, 'problems', 'an array');
  for (const [index, problem] of problems.entries()) {
    const { result, text, fix } = Object(problem) as Record<string, unknown>;
    const member = (name: string) => `problems[${String(index)}].${name}`;
    if (result !== 'warn' && result !== 'bad')
      throw badReport(url, member('result'), "'warn' or 'bad'");
    if (typeof text !== 'string') throw badReport(url, member('text'), 'a string');
    if (typeof fix !== 'string') throw badReport(url, member('fix'), 'a string');
  }
  return report as StoreReport;
}

const badReport = (url: string, member: string, expected: string) =>
  badInput(
    `inspect() of ${url} resolved with an invalid report: ${member} must be ${expected}.`,
    "Resolve with { server, problems: [{ result: 'warn' or 'bad', text, fix }] }: see docs/write-a-store.md.",
  );
