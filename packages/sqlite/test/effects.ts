import type { Effects } from '@call-webhooks/contract-tests';
import { createClient } from '@libsql/client';
import { drizzle as drizzleOnLibsqlClient } from 'drizzle-orm/libsql';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { Kysely, SqliteDialect } from 'kysely';
import type { Client } from './support.ts';

/** Transactions of a user on a file, with clients of their own. */
export interface Transactions extends Pick<Effects, 'transact'> {
  /** What is no transaction: the client itself. */
  root: unknown;
  /** What is said to that. */
  mistake: string;
  close(): unknown;
}

const INSERT = 'INSERT INTO effects (effect) VALUES (?)';
export const effects = sqliteTable('effects', { effect: text().notNull() });

/** BEGIN and COMMIT on a handle of its own. */
export function onHandle(client: Client, file: string): Transactions {
  const root = client.open(file);
  return {
    root,
    mistake: 'this handle is in no transaction. Run BEGIN on it first',
    async transact(work) {
      const handle = client.open(file);
      handle.exec('PRAGMA busy_timeout = 20');
      try {
        handle.exec('BEGIN IMMEDIATE');
        try {
          const write = (effect: string) => Promise.resolve(handle.prepare(INSERT).run(effect));
          await work({ tx: handle, write });
          handle.exec('COMMIT');
        } catch (error) {
          handle.exec('ROLLBACK');
          throw error;
        }
      } finally {
        handle.close();
      }
    },
    close: () => root.close(),
  };
}

/** Kysely, over better-sqlite3 or a handle like it. */
export function onKysely(client: Client, file: string): Transactions {
  const database = client.open(file) as never;
  const root = new Kysely<{ effects: { effect: string } }>({
    dialect: new SqliteDialect({ database }),
  });
  return {
    root,
    mistake: 'Pass the trx of db.transaction().execute(async (trx) => …)',
    transact: (work) =>
      root.transaction().execute((trx) =>
        work({
          tx: trx,
          write: (effect) => trx.insertInto('effects').values({ effect }).execute(),
        }),
      ),
    close: () => root.destroy(),
  };
}

/** The asynchronous client of libsql. */
export function onLibsqlClient(file: string): Transactions {
  const root = createClient({ url: `file:${file}` });
  return {
    root,
    mistake: "Pass the transaction of client.transaction('write')",
    async transact(work) {
      const tx = await root.transaction('write');
      try {
        await work({ tx, write: (effect) => tx.execute({ sql: INSERT, args: [effect] }) });
        await tx.commit();
      } finally {
        tx.close();
      }
    },
    close() {
      root.close();
    },
  };
}

export function onDrizzleOnLibsqlClient(file: string): Transactions {
  const client = createClient({ url: `file:${file}` });
  const root = drizzleOnLibsqlClient(client);
  return {
    root,
    mistake: 'Pass the tx of db.transaction((tx) => …)',
    transact: (work) =>
      root.transaction((tx) =>
        work({ tx, write: async (effect) => tx.insert(effects).values({ effect }) }),
      ),
    close() {
      client.close();
    },
  };
}
