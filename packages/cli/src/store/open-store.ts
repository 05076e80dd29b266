import { ClientError } from '@call-webhooks/client';
import { WebhookError } from '@call-webhooks/core';
import type { Command } from 'commander';
import type { App } from '../app.ts';
import { badInput, CliError, environmentError } from '../errors.ts';
import type { OpenedStore } from './engine.ts';
import { ENGINES } from './engines.ts';
import { isModule, openModule } from './module-engine.ts';
import { answeringInTime, closeInTime, OPEN_WITHIN_MS, within } from './time-limit.ts';

/** The flags that name a store. */
export interface StoreOptions {
  readonly store?: string;
  readonly prefix?: string;
}

export const STORE_VARIABLE = 'CALL_WEBHOOKS_STORE';

/** Adds `--store` and `--prefix`. */
export const withStoreOptions = (command: Command): Command =>
  command
    .option(
      '--store <url>',
      `redis://…, postgres://…, mysql://…, sqlite:FILE or ./MODULE.mjs (default: $${STORE_VARIABLE}, which hides a password)`,
    )
    .option('--prefix <name>', "the prefix of the receiver's store, or its Postgres schema");

/** Whether the flags or the environment name a store. */
export const isStoreGiven = ({ io }: App, { store }: StoreOptions): boolean =>
  (store ?? io.env[STORE_VARIABLE] ?? '') !== '';

/**
 * Opens the store that the flags or the environment name, and closes it when the work has ended. A server
 * that does not answer is given up after some seconds. Ctrl-C ends the opening at once, and also work that
 * writes nothing.
 * @param readOnly whether nothing may be written
 * @throws CliError 2 for a URL that is none, 3 when the store fails; and what else the work throws
 */
export async function withStore<T>(
  { io, signal }: App,
  { store, prefix }: StoreOptions,
  work: (opened: OpenedStore) => Promise<T>,
  readOnly = false,
): Promise<T> {
  const url = store ?? io.env[STORE_VARIABLE] ?? '';
  if (url === '')
    throw badInput('No store is given.', `Pass --store URL, or set ${STORE_VARIABLE}.`);
  const engine = isModule(url)
    ? openModule
    : Object.entries(ENGINES).find(([scheme]) => url.startsWith(scheme))?.[1];
  if (!engine)
    throw badInput(
      'The store must be a URL that starts with redis://, rediss://, postgres://, mysql://, mariadb:// or sqlite:, or the path of a module, such as ./my-store.mjs.',
      'Example: --store sqlite:calls.db',
    );
  if (url.includes('#') && !isModule(url) && !url.startsWith('sqlite:'))
    throw badInput(
      'The URL of the store contains a #, and everything after it is ignored.',
      'In a password, write %23 instead of #, %2F instead of /, %3F instead of ? and %40 instead of @.',
    );
  const given = new AbortController();
  try {
    const opening = engine({ url, prefix, readOnly, givenUp: given.signal });
    const opened = await within(opening, signal, OPEN_WITHIN_MS);
    try {
      const working = work(answeringInTime(opened));
      return await (readOnly ? within(working, signal) : working);
    } finally {
      await closeInTime(opened.close);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw isOfStore(error) ? storeError(error) : error;
  } finally {
    given.abort();
  }
}

/** Not those with words of their own, nor of the service that the work asks. */
const isOfStore = (error: unknown): boolean =>
  ![CliError, WebhookError, ClientError].some((known) => error instanceof known);

const CERTIFICATE =
  "Set NODE_EXTRA_CA_CERTS to a file with the server's certificate or that of its authority. For Postgres, sslrootcert=FILE in the URL does the same.";

/** The database, or the prefix, has no tables of a receiver. */
const WITHOUT_TABLES = /42P01|3F000|ER_NO_SUCH_TABLE|ER_SP_DOES_NOT_EXIST|store\.migrate\(\)/;

/** Whether the tables of a receiver are missing, as far as the error of a store tells. */
export const isWithoutTables = (error: unknown): boolean =>
  error instanceof Error && WITHOUT_TABLES.test(toldOf(error));

/** What is wrong, by what the message or the code of the client has in common. */
const FIXES: readonly (readonly [pattern: RegExp, fix: string])[] = [
  [
    /WRONGPASS|invalid username-password|invalid password|28P01|28000|password authentication|ER_ACCESS_DENIED/,
    'Check the user name and the password in the URL. Special characters are percent-encoded: %23 for #.',
  ],
  [/NOAUTH/, 'Add the password to the URL: redis://:PASSWORD@HOST or redis://USER:PASSWORD@HOST.'],
  [
    /ECONNREFUSED/,
    'Nothing is listening at this address. Start the server, or check the host and the port in the URL.',
  ],
  [/ENOTFOUND|EAI_AGAIN/, 'Check the host name in the URL.'],
  [/ALTNAME|altnames/, 'Use the host name of the certificate in the URL.'],
  [/EXPIRED|has expired/, "Renew the server's certificate."],
  [/SELF_SIGNED|self-signed|CERT|certificate|UNABLE_TO_/i, CERTIFICATE],
  [
    /does not support SSL|WRONG_VERSION|EPROTO|packet length too long|wrong version number/i,
    'The server does not use TLS on this port. Use redis://, or sslmode=disable for Postgres.',
  ],
  [
    /ECONNRESET|Connection is closed|Socket closed|Protocol error/i,
    'Check the port. If the server uses TLS, use rediss://.',
  ],
  [
    /ETIMEDOUT|timeout/i,
    'Check the host and the port in the URL, and the firewall. For a Redis server without TLS, the URL starts with redis://.',
  ],
  [
    WITHOUT_TABLES,
    'Check the database in the URL, and --prefix, which is the schema for Postgres. A receiver creates its tables with store.migrate().',
  ],
  [
    /no such table|no such column/,
    'The tables were created by an older release. Start the receiver once with this release.',
  ],
  [/3D000|ER_BAD_DB_ERROR|ER_DBACCESS_DENIED/, 'Check the database name in the URL.'],
  [
    /DB index|SELECT is not allowed/i,
    'Check the database number at the end of the URL: redis://HOST/0. Most servers have the databases 0 to 15, and a cluster has only 0.',
  ],
  [/NOTADB|not a database/i, 'Check the path: the file is not a SQLite database.'],
  [
    /^MOVED|^CROSSSLOT/,
    'This is a Redis cluster, for which the command line needs ioredis: npm install ioredis',
  ],
];

/** The client's own error, with its fix. */
function storeError(error: unknown): CliError {
  const told = error instanceof Error ? toldOf(error) : String(error);
  const fix = FIXES.find(([pattern]) => pattern.test(told))?.[1];
  return environmentError(
    `The store failed: ${told}`,
    fix ?? "Check the store's URL, and that its server is running.",
  );
}

/** The message, with the code of the client. */
function toldOf(error: Error): string {
  const { message, code } = messageAndCode(error);
  return code === undefined || message.includes(code) ? message : `${message} (${code})`;
}

/** Where several addresses were tried, the error has no message of its own. */
function messageAndCode(error: Error & { code?: string }): {
  message: string;
  code?: string | undefined;
} {
  const [first] = error instanceof AggregateError ? (error.errors as Error[]) : [];
  const { message, code }: Error & { code?: string } = first ?? error;
  return { message: message || String(code), code: code ?? error.code };
}
