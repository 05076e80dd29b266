import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DeadLetters, Store } from '@call-webhooks/core';
import type { QueueJobs } from '@call-webhooks/core/stores';
import { badInput, environmentError } from '../errors.ts';
import type { Engine, StoreReport } from './engine.ts';

/** What the default export of a module is, or what it resolves with if it is a function. */
interface StoreModule {
  readonly store: Store;
  readonly deadLetters: DeadLetters;
  /** The jobs of a queue, for `erase`. */
  readonly jobs?: QueueJobs;
  /** What `doctor` says about the server. */
  readonly inspect?: () => Promise<StoreReport>;
  readonly close?: () => unknown;
}

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
      'Run the module by itself to see where it fails: node MODULE',
    );
  })) as { default?: unknown };
  const given: unknown =
    typeof exported === 'function'
      ? await (exported as (options: object) => unknown)({ prefix, readOnly })
      : exported;
  const { store, deadLetters, jobs, inspect, close } = checked(url, given);
  return {
    ...{ store, deadLetters, jobs },
    inspect: inspect ? () => inspect() : () => Promise.resolve({ server: url, problems: [] }),
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
