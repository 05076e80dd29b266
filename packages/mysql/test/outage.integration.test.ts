import { expect, it } from '@jest/globals';
import { collectingLogger, startMysql, type MysqlServer } from '@call-webhooks/contract-tests';
import { serverOutages } from '@call-webhooks/contract-tests/outages/server';
import type { Pool } from 'mysql2/promise';
import { mysqlStore } from '../src/index.ts';
import { openPool, withOwnMysql } from './support.ts';

const TABLE_FULL = 1114;

withOwnMysql('a receiver whose MySQL goes away', () => {
  const openStore = (pool: Pool) => mysqlStore(pool, { logger: collectingLogger() });
  const { server, stop, mount, deliver, deliverUntilRefused, expectAway, expectBack } =
    serverOutages<MysqlServer, Pool>({
      start: () => startMysql(),
      openPool: (url) => openPool(url),
      openStore,
    });

  it('closes connections that give no answer', async () => {
    const few = openPool(server().url, { connectionLimit: 2 });
    const store = openStore(few);
    await Promise.all([store.ping(), store.ping()]);
    server().freeze();
    const lost = Promise.allSettled([store.ping(), store.ping()]);
    expect((await lost).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    server().thaw();
    await store.ping();
    await few.end();
  });

  // On a disk that is really full, MariaDB may end itself: then it is down, as above.
  it('returns 503 while its tablespace is full, loses nothing, and works when there is room', async () => {
    await stop();
    const full = await startMysql({
      settings: {
        'innodb-file-per-table': '0',
        'innodb-data-file-path': 'ibdata1:12M:autoextend:max:20M',
        'innodb-autoextend-increment': '1',
      },
    });
    await mount(openPool(full.url));
    const admin = openPool(full.url);
    await mysqlStore(admin).migrate();
    expect((await deliver('first')).outcome).toBe('handled');
    await admin.query('CREATE TABLE filler (text LONGTEXT)');
    const fill = async (size: number) => {
      for (;;) await admin.query(`INSERT INTO filler VALUES (REPEAT('x', ${String(size)}))`);
    };
    for (const size of [200_000, 5_000, 100])
      await expect(fill(size)).rejects.toMatchObject({ errno: TABLE_FULL });
    const handled = ['first', ...(await deliverUntilRefused())];
    await expectAway(['full-1']);
    await full.kill();
    await full.start({ 'innodb-data-file-path': 'ibdata1:12M:autoextend:max:64M' });
    await expectBack(['full-1']);
    for (const callId of handled) expect((await deliver(callId)).outcome).toBe('duplicate');
    await admin.end();
    await stop();
    await full.remove();
    await mount(openPool(server().url)); // for the hook that stops it
  }, 120_000);
});
