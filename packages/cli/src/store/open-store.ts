import { WebhookError } from '@call-webhooks/core';
import type { Command } from 'commander';
import type { App } from '../app.ts';
import { badInput, CliError, environmentError } from '../errors.ts';
import { ENGINES, type OpenedStore } from './engines.ts';

/** The flags that name a store. */
export interface StoreOptions {
  readonly store?: string;
  readonly prefix?: string;
}

const STORE_VARIABLE = 'CALL_WEBHOOKS_STORE';

/** Adds `--store` and `--prefix`. */
export const withStoreOptions = (command: Command): Command =>
  command
    .option(
      '--store <url>',
      `redis://…, postgres://… or sqlite:FILE (or $${STORE_VARIABLE}, which hides a password)`,
    )
    .option('--prefix <name>', "the receiver's prefix, or its schema of Postgres");

/**
 * Opens the store that the flags or the environment name, and closes it when the work has ended.
 * @throws CliError 2 for a URL that is none, 3 when the store fails
 */
export async function withStore<T>(
  { io }: App,
  options: StoreOptions,
  work: (opened: OpenedStore) => Promise<T>,
): Promise<T> {
  const url = options.store ?? io.env[STORE_VARIABLE] ?? '';
  if (url === '')
    throw badInput('No store is given.', `Pass --store URL, or set ${STORE_VARIABLE}.`);
  const engine = Object.entries(ENGINES).find(([scheme]) => url.startsWith(scheme))?.[1];
  if (!engine)
    throw badInput(
      'The URL of the store has to begin with redis://, rediss://, postgres:// or sqlite:',
      'Example: --store sqlite:calls.db',
    );
  try {
    const opened = await engine(url, options.prefix);
    try {
      return await work(opened);
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (error instanceof CliError || error instanceof WebhookError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw environmentError(`The store failed: ${message}`, 'Check its URL, and that it runs.');
  }
}
