import type { Effects } from '@call-webhooks/store-tests';
import type { PostgresClient } from '../src/index.ts';
import { openTestStore } from './support.ts';

/** Transactions of a user, with a client of their own. */
export interface Transactions extends Pick<Effects, 'transact' | 'client'> {
  close(): Promise<unknown>;
}

export const insertInto = (schema: string) => `INSERT INTO ${schema}.effects (effect) VALUES ($1)`;

/** A new store, a table of effects beside it, and transactions on both. */
export async function openWithEffects(
  client: PostgresClient,
  openTransactions: (schema: string) => Transactions,
) {
  const opened = await openTestStore(client);
  const { schema } = opened;
  await client.query(`CREATE TABLE ${schema}.effects (number serial PRIMARY KEY, effect text)`);
  const transactions = openTransactions(schema);
  return {
    ...opened,
    ...transactions,
    async committed(effect: string) {
      const count = `SELECT count(*)::int AS count FROM ${schema}.effects WHERE effect = $1`;
      const { rows } = (await client.query(count, [effect])) as { rows: { count: number }[] };
      return rows[0]!.count;
    },
    async close() {
      await transactions.close();
      await opened.close();
    },
  };
}
