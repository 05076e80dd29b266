import { expect, it } from '@jest/globals';
import {
  collectingLogger,
  startPostgres,
  type PostgresServer,
} from '@call-webhooks/contract-tests';
import { completeInOutages } from '@call-webhooks/contract-tests/outages/complete-in';
import type pg from 'pg';
import { postgresStore } from '../src/index.ts';
import { openPool, withPostgres } from './support.ts';

withPostgres('completeIn when the server or the connection goes away', () => {
  const { deliver, committed, attempts } = completeInOutages<PostgresServer, pg.Pool>({
    start: () => startPostgres(),
    openPool: (url) => openPool(url),
    openUserPool: (url) => openPool(url, { query_timeout: 400 }),
    // Its sweep may fail as well, and would say so.
    openStore: (pool) => postgresStore(pool, { logger: collectingLogger() }),
    // The COMMIT of a slow effect takes a second.
    createEffects: (pool) =>
      pool.query(`CREATE TABLE effects (effect text, slow boolean);
        CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.7); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER slowly AFTER INSERT ON effects DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW WHEN (NEW.slow) EXECUTE FUNCTION slowly()`),
    async committed(pool, effect) {
      const count = 'SELECT count(*)::int AS count FROM effects WHERE effect = $1';
      const { rows } = await pool.query<{ count: number }>(count, [effect]);
      return rows[0]!.count;
    },
    async begin(pool, admin) {
      const client = await pool.connect();
      const ignore = () => undefined;
      client.on('error', ignore); // more than one may come
      await client.query('BEGIN');
      const { processID } = client as unknown as { processID: number };
      return {
        tx: client,
        write: (effect) =>
          client.query('INSERT INTO effects VALUES ($1, $2)', [effect, effect.includes('slow')]),
        commit: () => client.query('COMMIT'),
        cut: () => admin.query('SELECT pg_terminate_backend($1)', [processID]),
        end(hasFailed) {
          if (!hasFailed) client.off('error', ignore);
          client.release(hasFailed);
        },
      };
    },
  });

  it('the connection is lost during COMMIT: the claim waits for it, and the event is handled', async () => {
    const { outcome, ms } = await deliver('slow');
    expect(outcome).toBe('handled');
    expect(ms).toBeGreaterThan(700); // though the client gave up after 400 ms
    expect((await deliver('slow')).outcome).toBe('duplicate');
    expect(await committed('slow')).toBe(1);
    expect(attempts()).toEqual([1]);
  });
});
