import type { Effects } from '@call-webhooks/contract-tests';
import { createClient } from '@libsql/client';
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
