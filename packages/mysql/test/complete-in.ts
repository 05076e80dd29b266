import * as runner from '@jest/globals';
import { expect, it } from '@jest/globals';
import { completeInContractTests } from '@call-webhooks/store-tests';
import { mysqlStore, type MysqlTransaction } from '../src/index.ts';
import type { Clients } from './effects.ts';
import { openWithEffects } from './open-with-effects.ts';
import { openPool, withMysql } from './support.ts';
import { useMysql } from './use-mysql.ts';

/** What each client shows whose transactions `completeIn` takes. */
export function completeInTests(clients: Clients): void {
  withMysql('completeIn on a server', () => {
    const test = useMysql();

    for (const [name, open] of Object.entries(clients)) {
      const openStore = () => openWithEffects(test.pool, (table) => open(test.url, table));
      completeInContractTests(runner, { name, open: openStore });

      it(`refuses the client itself, and a transaction that has ended: ${name}`, async () => {
        const opened = await openStore();
        const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
        await opened.store.admit({ ...claim, key: 'event', token: 'token' });
        let ended: unknown;
        await opened.transact(({ tx }) => Promise.resolve(void (ended = tx)));
        const isRefused = (tx: unknown) =>
          expect(async () => opened.store.completeIn(tx as MysqlTransaction, 'event', 'token'))
            .rejects;
        await isRefused(opened.client).toMatchObject({ code: 'invalid-options' });
        await isRefused(ended).toThrow();
        expect(await opened.store.complete('event', 'token')).toBe(true);
        await opened.close();
      });

      it(`refuses a transaction on another server: ${name}`, async () => {
        const opened = await openStore();
        const database = `${opened.prefix}elsewhere`;
        await test.pool.query(`CREATE DATABASE ${database}`);
        const uri = new URL(test.url);
        uri.pathname = database;
        const pool = openPool(uri.href);
        const elsewhere = mysqlStore(pool, { prefix: opened.prefix });
        await elsewhere.migrate();
        await elsewhere.admit({
          ...{ webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 },
          ...{ key: 'event', token: 'token' },
        });
        // On the same server, another database is no other place.
        await opened.transact(async ({ tx, write }) => {
          await write('event');
          expect(await elsewhere.completeIn(tx as MysqlTransaction, 'event', 'token')).toBe(true);
        });
        expect(await elsewhere.peek!(['event'])).toEqual(['handled']);
        await test.pool.query(`DROP DATABASE ${database}`);
        const transaction = opened.transact(async ({ tx }) => {
          await elsewhere.completeIn(tx as MysqlTransaction, 'event', 'token');
        });
        await expect(transaction).rejects.toMatchObject({
          code: 'invalid-options',
          message: expect.stringContaining('does not contain'),
          cause: expect.any(Error),
        });
        await pool.end();
        await opened.close();
      });
    }
  });
}
