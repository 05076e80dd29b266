// The module of a user, for store-module.test.ts.
import process from 'node:process';
import { sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';

/** @type {import('@call-webhooks/core/stores').StoreModuleExport} */
export default async ({ prefix, readOnly }) => {
  const db = new Database(process.env.MY_STORE_FILE);
  const tables = prefix === undefined ? {} : { prefix };
  const store = { ...sqliteStore(db, tables) };
  // What a store may lack.
  for (const name of (process.env.MY_STORE_WITHOUT ?? '').split(','))
    Reflect.deleteProperty(store, name);
  return {
    store,
    deadLetters: sqliteDeadLetters(db, tables),
    inspect: async () => ({
      server: `my database 1.0${readOnly ? ', opened to read' : ''}`,
      problems: JSON.parse(process.env.MY_STORE_PROBLEMS ?? '[]'),
    }),
    close: () => db.close(),
  };
};
