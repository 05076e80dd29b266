import type { Effects } from '@call-webhooks/store-tests';
import type { Pool } from 'mysql2/promise';
import { openTestStore, rowsOf } from './support.ts';

/** Transactions of a user, with a client of their own. */
export interface Transactions extends Pick<Effects, 'client' | 'transact'> {
  close(): Promise<unknown>;
}

/** A new store, a table of effects beside it, and transactions on both. */
export async function openWithEffects(
  admin: Pool,
  openTransactions: (table: string) => Transactions,
) {
  const opened = await openTestStore(admin);
  const table = `${opened.prefix}effects`;
  await admin.query(
    `CREATE TABLE ${table} (number INT AUTO_INCREMENT PRIMARY KEY, effect LONGTEXT) DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`,
  );
  const transactions = openTransactions(table);
  return {
    ...opened,
    ...transactions,
    async committed(effect: string) {
      const count = `SELECT COUNT(*) AS count FROM ${table} WHERE effect = ?`;
      return (await rowsOf<{ count: number }>(admin, count, [effect]))[0]!.count;
    },
    async close() {
      await transactions.close();
      await opened.close();
    },
  };
}
