import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  completeInContractTests,
  startPostgres,
  type PostgresServer,
} from '@call-webhooks/contract-tests';
import type pg from 'pg';
import type { PostgresTransaction } from '../src/index.ts';
import { CLIENTS } from './effects.ts';
import { openWithEffects } from './open-with-effects.ts';
import { openPool, withPostgres } from './support.ts';

withPostgres('completeIn on a server', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    const patient = { connectionTimeoutMillis: 20_000, query_timeout: 20_000 };
    pool = openPool(server.url, { max: 20, ...patient });
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  for (const [name, open] of Object.entries(CLIENTS)) {
    completeInContractTests({
      name,
      open: () => openWithEffects(pool, (schema) => open(server.url, schema)),
    });

    it(`refuses the client itself, and a transaction that has ended: ${name}`, async () => {
      const opened = await openWithEffects(pool, (schema) => open(server.url, schema));
      const claim = { webhookId: 'w', replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
      await opened.store.admit({ ...claim, key: 'event', token: 'token' });
      let ended: unknown;
      await opened.transact(({ tx }) => Promise.resolve(void (ended = tx)));
      for (const tx of [opened.root, ended])
        await expect(async () =>
          opened.store.completeIn(tx as PostgresTransaction, 'event', 'token'),
        ).rejects.toThrow();
      expect(await opened.store.complete('event', 'token')).toBe(true);
      await opened.close();
    });
  }
});
