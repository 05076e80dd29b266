import { afterAll, afterEach, beforeAll, beforeEach, describe, jest, test } from '@jest/globals';
import { PGlite } from '@electric-sql/pglite';
import { mysqlStore } from '@call-webhooks/mysql';
import { postgresStore } from '@call-webhooks/postgres';
import {
  describeWithProgram,
  mariadbProgram,
  type MysqlServer,
  redisServer,
  type RedisServer,
  startMysql,
} from '@call-webhooks/contract-tests';
import { Redis } from 'ioredis';
import { createPool, type Pool } from 'mysql2/promise';
import { RealTimeStore } from '../src/model/real-time-store.ts';
import { redisOnFakeClock } from '../src/model/redis-on-fake-clock.ts';
import { checkScenarios, timeOf, useFakeClock, warmUp } from './model-scenarios.ts';

const runs = Number(process.env.MODEL_SERVER_RUNS ?? 500);
// Only a test that hangs takes this long. When one times out, the tests after it fail too, because it keeps using their clock.
const HANG_MS = 1_800_000;
const MODES = [{ oneAtATime: false }, { oneAtATime: true }];

beforeAll(warmUp);
beforeEach(useFakeClock);
afterEach(() => void jest.useRealTimers());

describe('with the Postgres store on PGlite', () => {
  let db: PGlite;
  beforeAll(async () => {
    db = await PGlite.create();
    await postgresStore(db).migrate();
  });
  afterAll(() => db.close());

  // PGlite is Postgres inside this process, so it uses the fake clock.
  test.each(MODES)(
    'the receiver does what the model allows: %j',
    async (options) => {
      const setUp = async () => {
        await db.exec(
          'TRUNCATE call_webhooks.webhook_ids, call_webhooks.events, call_webhooks.groups',
        );
        const store = new RealTimeStore(postgresStore(db, { now: Date.now }));
        return { store, time: timeOf(store) };
      };
      await checkScenarios('the Postgres store', runs, setUp, options);
    },
    HANG_MS,
  );
});

describeWithProgram('redis-server', 'with the Redis store on a real server', () => {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    jest.useRealTimers();
    server = await redisServer();
    await server.start();
    // Without a socketTimeout: ioredis would count it with the fake clock, which moves while a command is
    // on its way, and would then reconnect after a delay of that clock, for which nobody waits.
    client = new Redis(server.port, '127.0.0.1');
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  // Added to each step, so that no delivery comes exactly at the end of a lease. A call may take
  // nearly as long before the difference between the two clocks matters.
  const MORE_MS = 50;

  test.each(MODES)(
    'the receiver does what the model allows: %j',
    async (options) => {
      const setUp = async () => {
        const store = await redisOnFakeClock(client, {
          fake: Date.now,
          real: jest.getRealSystemTime,
        });
        return {
          store,
          time: timeOf(store, { moreMs: MORE_MS }),
          valid: () => store.slowestMs < MORE_MS / 2,
        };
      };
      await checkScenarios('the Redis store', runs, setUp, options);
    },
    HANG_MS,
  );
});

const mariadb = { name: 'mariadbd', path: mariadbProgram(), installedBy: 'mariadb-server' };
describeWithProgram(mariadb, 'with the MySQL store on MariaDB', () => {
  let server: MysqlServer;
  let pool: Pool;
  beforeAll(async () => {
    jest.useRealTimers();
    server = await startMysql();
    // One connection, whose clock is set before each call.
    pool = createPool({ uri: server.url, connectionLimit: 1 });
    await mysqlStore(pool).migrate();
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  test.each(MODES)(
    'the receiver does what the model allows: %j',
    async (options) => {
      const setUp = async () => {
        for (const table of ['webhook_ids', 'events', 'event_groups'])
          await pool.query(`DELETE FROM call_webhooks_${table}`);
        const setClock = () => pool.query(`SET timestamp = ${(Date.now() / 1_000).toFixed(3)}`);
        const store = new RealTimeStore(mysqlStore(pool, { now: Date.now }), setClock);
        return { store, time: timeOf(store) };
      };
      // One connection takes its time.
      await checkScenarios('the MySQL store', Math.ceil(runs / 4), setUp, options);
    },
    HANG_MS,
  );
});
