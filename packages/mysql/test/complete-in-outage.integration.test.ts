import { collectingLogger, startMysql, type MysqlServer } from '@call-webhooks/contract-tests';
import { completeInOutages } from '@call-webhooks/contract-tests/outages/complete-in';
import type { Pool } from 'mysql2/promise';
import { mysqlStore } from '../src/index.ts';
import { openPool, rowsOf, withOwnMysql } from './support.ts';

withOwnMysql('completeIn when the server or the connection goes away', () => {
  completeInOutages<MysqlServer, Pool>({
    start: () => startMysql(),
    openPool: (url) => openPool(url),
    openUserPool: (url) => openPool(url),
    // Its sweep may fail as well, and would say so.
    openStore: (pool) => mysqlStore(pool, { logger: collectingLogger() }),
    createEffects: (pool) => pool.query('CREATE TABLE effects (effect TEXT)'),
    async committed(pool, effect) {
      const count = 'SELECT COUNT(*) AS count FROM effects WHERE effect = ?';
      return (await rowsOf<{ count: number }>(pool, count, [effect]))[0]!.count;
    },
    async begin(pool, admin) {
      const connection = await pool.getConnection();
      await connection.beginTransaction();
      return {
        tx: connection,
        write: (effect) => connection.query('INSERT INTO effects VALUES (?)', [effect]),
        commit: () => connection.query({ sql: 'COMMIT', timeout: 400 }),
        cut: () => admin.query(`KILL ${String(connection.threadId)}`),
        end(hasFailed) {
          if (hasFailed) connection.destroy();
          else connection.release();
        },
      };
    },
  });
});
