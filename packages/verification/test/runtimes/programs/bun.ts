// @ts-expect-error there are no types of Bun here
import { Database } from 'bun:sqlite';
import { sqliteStore, type SqliteDatabase } from '@call-webhooks/sqlite';
import { createFetch } from './fetch.ts';
import { readSettings } from './read-settings.ts';

/** The part of Bun that is used here. */
declare const Bun: {
  serve(options: {
    port: number;
    hostname: string;
    fetch: (request: Request) => Promise<Response>;
  }): { port: number };
};

const settings = readSettings();
const open = (file: string) => new (Database as new (file: string) => SqliteDatabase)(file);
const store = settings.file === undefined ? undefined : sqliteStore(open(settings.file));
const handle = createFetch(settings, store);
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => handle(request) });
console.log(JSON.stringify({ port: server.port }));
