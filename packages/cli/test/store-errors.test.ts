import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { App } from '../src/app.ts';
import { withStore } from '../src/store/open-store.ts';
import { setup } from './support/dead-letters.ts';

// What is told about each error of a client of a store, by what its message or its code says.

const MODULE = fileURLToPath(new URL('support/my-store.mjs', import.meta.url));
beforeEach(async () => {
  process.env['MY_STORE_FILE'] = (await setup()).file;
});
afterEach(() => {
  delete process.env['MY_STORE_FILE'];
});

const { signal } = new AbortController();
const app = { io: { env: {} }, signal } as unknown as App;
/** What is told if the work with a store fails like this. */
const toldOf = (error: unknown) =>
  withStore(app, { store: MODULE }, () => Promise.reject(error as Error)).catch(
    (thrown: unknown) => thrown as Error,
  );

const PASSWORD =
  'Check the user name and the password in the URL. Special characters are percent-encoded: %23 for #.';
const LISTEN =
  'Nothing is listening at this address. Start the server, or check the host and the port in the URL.';
const HOST = 'Check the host name in the URL.';
const NAME = 'Use the host name of the certificate in the URL.';
const TRUST =
  "Set NODE_EXTRA_CA_CERTS to a file with the server's certificate or that of its authority. For Postgres, sslrootcert=FILE in the URL does the same.";
const NO_TLS =
  'The server does not use TLS on this port. Use redis://, or sslmode=disable for Postgres.';
const TLS = 'Check the port. If the server uses TLS, use rediss://.';
const FIREWALL =
  'Check the host and the port in the URL, and the firewall. For a Redis server without TLS, the URL starts with redis://.';
const TABLES =
  'Check the database in the URL, and --prefix, which is the schema for Postgres. A receiver creates its tables with store.migrate().';
const OLDER =
  'The tables were created by an older release. Start the receiver once with this release.';
const DATABASE = 'Check the database name in the URL.';
const NUMBER =
  'Check the database number at the end of the URL: redis://HOST/0. Most servers have the databases 0 to 15, and a cluster has only 0.';
const NO_DATABASE = 'Check the path: the file is not a SQLite database.';
const CLUSTER =
  'This is a Redis cluster, for which the command line needs ioredis: npm install ioredis';
const ELSE = "Check the store's URL, and that its server is running.";

test.each<[message: string, code: string | undefined, fix: string]>([
  ['WRONGPASS invalid username-password pair', undefined, PASSWORD],
  ['ERR invalid password', undefined, PASSWORD],
  ['password authentication failed for user "u"', '28P01', PASSWORD],
  ['role "u" does not exist', '28000', PASSWORD],
  ['Access denied', 'ER_ACCESS_DENIED_ERROR', PASSWORD],
  [
    'NOAUTH Authentication required.',
    undefined,
    'Add the password to the URL: redis://:PASSWORD@HOST or redis://USER:PASSWORD@HOST.',
  ],
  ['connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED', LISTEN],
  ['getaddrinfo ENOTFOUND nobody', 'ENOTFOUND', HOST],
  ['getaddrinfo EAI_AGAIN nobody', 'EAI_AGAIN', HOST],
  ["Hostname/IP does not match certificate's altnames", 'ERR_TLS_CERT_ALTNAME_INVALID', NAME],
  ['certificate has expired', 'CERT_HAS_EXPIRED', "Renew the server's certificate."],
  ['self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT', TRUST],
  ['unable to verify', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', TRUST],
  ['The server does not support SSL connections', undefined, NO_TLS],
  ['routines:ssl3_get_record:wrong version number', 'EPROTO', NO_TLS],
  ['packet length too long', undefined, NO_TLS],
  ['read ECONNRESET', 'ECONNRESET', TLS],
  ['Connection is closed.', undefined, TLS],
  ['Socket closed unexpectedly', undefined, TLS],
  ['Protocol error, got "H"', undefined, TLS],
  ['connect ETIMEDOUT', 'ETIMEDOUT', FIREWALL],
  ['Connection timeout', undefined, FIREWALL],
  ['relation "dead_letters" does not exist', '42P01', TABLES],
  ['schema "calls" does not exist', '3F000', TABLES],
  ["Table 'calls' doesn't exist", 'ER_NO_SUCH_TABLE', TABLES],
  ['call store.migrate() first', undefined, TABLES],
  ['no such table: call_webhooks_events', 'SQLITE_ERROR', OLDER],
  ['no such column: source', undefined, OLDER],
  ['database "x" does not exist', '3D000', DATABASE],
  ["Unknown database 'x'", 'ER_BAD_DB_ERROR', DATABASE],
  ['Access to the database was refused', 'ER_DBACCESS_DENIED_ERROR', DATABASE],
  ['ERR DB index is out of range', undefined, NUMBER],
  ['ERR SELECT is not allowed in cluster mode', undefined, NUMBER],
  ['file is not a database', 'SQLITE_NOTADB', NO_DATABASE],
  ['MOVED 1 127.0.0.1:7000', undefined, CLUSTER],
  ["CROSSSLOT Keys in request don't hash to the same slot", undefined, CLUSTER],
  ['the disk is full', 'ENOSPC', ELSE],
  ['MOVE the store', undefined, ELSE],
])('%s (%s)', async (message, code, fix) => {
  const told = code === undefined || message.includes(code) ? message : `${message} (${code})`;
  const failure = Object.assign(new Error(message), code !== undefined && { code });
  const expected = { exitCode: 3, message: `The store failed: ${told}`, fix };
  expect(await toldOf(failure)).toMatchObject(expected);
  // Several addresses were tried: their error has no message of its own.
  expect(await toldOf(new AggregateError([failure, new Error('other')]))).toMatchObject(expected);
});

test('what is no error is told as it is', async () => {
  expect(await toldOf('no way')).toMatchObject({ message: 'The store failed: no way', fix: ELSE });
  expect(await toldOf(Object.assign(new Error(''), { code: 'EWHAT' }))).toMatchObject({
    ...{ message: 'The store failed: EWHAT', fix: ELSE },
  });
});
