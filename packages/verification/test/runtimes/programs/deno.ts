import { sqliteStore, type SqliteDatabase } from '@call-webhooks/sqlite';
import { createFetch } from './fetch.ts';
import { readSettings } from './read-settings.ts';

/** The part of Deno that is used here. */
declare const Deno: {
  serve(
    options: { port: number; hostname: string; onListen: (address: { port: number }) => void },
    handler: (request: Request) => Promise<Response>,
  ): unknown;
};

const settings = readSettings();

async function open(file: string): Promise<SqliteDatabase> {
  const name = 'node:sqlite'; // not in Node 20, whose types are used here
  const { DatabaseSync } = (await import(name)) as {
    DatabaseSync: new (file: string) => SqliteDatabase;
  };
  return new DatabaseSync(file);
}

const store = settings.file === undefined ? undefined : sqliteStore(await open(settings.file));
const handle = createFetch(settings, store);
const onListen = ({ port }: { port: number }) => {
  console.log(JSON.stringify({ port }));
};
Deno.serve({ port: 0, hostname: '127.0.0.1', onListen }, (request) => handle(request));
