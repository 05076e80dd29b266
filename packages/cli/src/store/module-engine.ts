import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DeadLetters, Store } from '@call-webhooks/core';
import type { QueueJobs, StoreModule, StoreReport } from '@call-webhooks/core/stores';
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
      if (inspect) return checkedReport(url, await inspect());
      // Something has to be asked, or a server that is down would look well.
      await Promise.all([store.peek?.(['a check']), deadLetters.list({ limit: 1 })]);
      return { server: url, problems: [] };
    },
    close: async () => close?.(),
  };
};

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
    `The default export of ${url} lacks ${missing.join(', ')}.`,
    'Export { store, deadLetters }, or a function that returns them: see docs/write-a-store.md.',
  );
}

/** @throws CliError 2 that names the first member of the report which is wrong */
function checkedReport(url: string, report: unknown): StoreReport {
  const { server, problems } = Object(report) as Record<string, unknown>;
  if (typeof server !== 'string') throw badReport(url, 'server', 'a text');
  if (!Array.isArray(problems)) throw badReport(url, 'problems', 'an array');
  for (const [index, problem] of problems.entries()) {
    const { result, text, fix } = Object(problem) as Record<string, unknown>;
    const member = (name: string) => `problems[${String(index)}].${name}`;
    if (result !== 'warn' && result !== 'bad')
      throw badReport(url, member('result'), "'warn' or 'bad'");
    if (typeof text !== 'string') throw badReport(url, member('text'), 'a text');
    if (typeof fix !== 'string') throw badReport(url, member('fix'), 'a text');
  }
  return report as StoreReport;
}

const badReport = (url: string, member: string, expected: string) =>
  badInput(
    `inspect() of ${url} resolved with a wrong report: ${member} has to be ${expected}.`,
    "Resolve with { server, problems: [{ result: 'warn' or 'bad', text, fix }] }: see docs/write-a-store.md.",
  );
