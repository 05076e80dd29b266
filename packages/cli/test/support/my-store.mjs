// The module of a user, for store-module.test.ts.
import process from 'node:process';
import { sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';

export default async () => {
  const db = new Database(process.env.MY_STORE_FILE);
  return {
    store: sqliteStore(db),
    deadLetters: sqliteDeadLetters(db),
    inspect: async () => ({ server: 'my database 1.0', problems: [] }),
    close: () => db.close(),
  };
};
