import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { environmentError } from '../errors.ts';

/** How long a client waits for its server; milliseconds. */
export const CONNECT_WITHIN_MS = 5_000;

export interface Connection<Client> {
  readonly client: Client;
  readonly close: () => Promise<unknown>;
}

/** Runs something when a signal is aborted. */
export const onAbort = (signal: AbortSignal, run: () => void) =>
  signal.addEventListener('abort', run, { once: true });

/** The first error that a client reports: the cause of those that follow. */
export function firstError(client: {
  on(event: 'error', listener: (error: Error) => void): unknown;
}): () => Error | undefined {
  let first: Error | undefined;
  client.on('error', (error) => (first ??= error));
  return () => first;
}

/** A package, and how it opens a URL. */
export interface ClientPackage<Client> {
  readonly name: string;
  /** @param givenUp ends a connection */
  readonly open: (module: never, url: string, givenUp: AbortSignal) => Client;
}

/**
 * Opens a URL with the first of these packages that is installed: in the user's project, or beside
 * this program.
 * @throws CliError 3 when none is installed
 */
export async function openWithInstalled<Client>(
  packages: readonly ClientPackage<Client>[],
  url: string,
  givenUp: AbortSignal,
): Promise<Client> {
  for (const { name, open } of packages) {
    const loaded = await load(name);
    if (loaded !== undefined) return open(loaded as never, url, givenUp);
  }
  const names = packages.map(({ name }) => name).filter((name) => !name.startsWith('node:'));
  throw environmentError(
    `This store needs a client, and none is installed: ${names.join(', ')}.`,
    `npm install ${names[0] ?? ''}`,
  );
}

async function load(name: string): Promise<unknown> {
  for (const from of [join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      const path = createRequire(from).resolve(name);
      return await import(path.startsWith('node:') ? path : pathToFileURL(path).href);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_UNKNOWN_BUILTIN_MODULE') throw error;
    }
  }
  return undefined;
}
