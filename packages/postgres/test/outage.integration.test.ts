import { afterAll, expect, it } from '@jest/globals';
import {
  collectingLogger,
  startPostgres,
  type PostgresServer,
} from '@call-webhooks/contract-tests';
import { serverOutages } from '@call-webhooks/contract-tests/outages/server';
import type pg from 'pg';
import { postgresStore } from '../src/index.ts';
import { smallDisk } from './small-disk.ts';
import { openPool, withPostgres } from './support.ts';

withPostgres('a receiver whose Postgres goes away', () => {
  const { server, pool, deliver, deliverUntilRefused, expectAway, expectBack } = serverOutages<
    PostgresServer,
    pg.Pool
  >(
    {
      start: () => startPostgres(),
      openPool: (url) => openPool(url),
      openStore: (through) => postgresStore(through, { logger: collectingLogger() }),
    },
    {
      'a pool without time limits': (url) =>
        openPool(url, { connectionTimeoutMillis: 0, query_timeout: 0 }),
    },
  );

  it('returns 503 while it is read-only, as after a failover to a replica', async () => {
    const admin = openPool(server().url, { max: 1 });
    const readOnly = async (value: string) => {
      await admin.query(`SET default_transaction_read_only = off`);
      await admin.query(`ALTER DATABASE postgres SET default_transaction_read_only = ${value}`);
    };
    await readOnly('on');
    await expectAway(['read-1']);
    await readOnly('off');
    await pool().query('SET default_transaction_read_only = off'); // its one connection
    await expectBack(['read-1']);
    await admin.end();
  });

  const disk = smallDisk(1_500, process.getuid?.() === 0 ? 'postgres' : String(process.getuid?.()));
  afterAll(() => disk?.remove()); // after the server: this is the later one of the two
  if (!disk)
    process.stderr.write(
      '\n!!! SKIPPED: Postgres on a full disk: this user may not mount a tmpfs.\n\n',
    );

  (disk ? it : it.skip)(
    'returns 503 while its disk is full, loses nothing, and works when there is room',
    async () => {
      const admin = openPool(server().url, { max: 1 });
      await admin.query(`CREATE TABLESPACE small LOCATION '${String(disk?.path)}'`);
      for (const table of ['webhook_ids', 'events'])
        await admin.query(`ALTER TABLE call_webhooks.${table} SET TABLESPACE small`);
      await admin.query('ALTER INDEX call_webhooks.events_pkey SET TABLESPACE small');
      expect((await deliver('first')).outcome).toBe('handled');
      await admin.query('CREATE TABLE filler (text text) TABLESPACE small');
      const fill = () =>
        admin.query("INSERT INTO filler SELECT repeat('x', 2000) FROM generate_series(1, 50)");
      await expect(
        (async () => {
          for (;;) await fill();
        })(),
      ).rejects.toMatchObject({ code: '53100' });
      const handled = ['first', ...(await deliverUntilRefused())];
      await expectAway(['full-1', 'full-2']);
      await admin.query('DROP TABLE filler');
      await expectBack(['full-1', 'full-2']);
      for (const callId of handled) expect((await deliver(callId)).outcome).toBe('duplicate');
      for (const table of ['webhook_ids', 'events'])
        await admin.query(`ALTER TABLE call_webhooks.${table} SET TABLESPACE pg_default`);
      await admin.end();
    },
    120_000,
  );
});
