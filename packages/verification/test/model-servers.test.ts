import { afterAll, afterEach, beforeAll, beforeEach, describe, jest, test } from '@jest/globals';
import { PGlite } from '@electric-sql/pglite';
import { postgresStore } from '@call-webhooks/postgres';
import { describeWithProgram, redisServer, type RedisServer } from '@call-webhooks/contract-tests';
import { Redis } from 'ioredis';
import { OutsideStore } from '../src/model/outside-store.ts';
import { turnedRedis } from '../src/model/turned-redis.ts';
import { leadLives, timeOutside, turnTime, warmUp } from './model-support.ts';

// The engines that are slower to start and to ask; few lives in CI, more with PROOF_MODEL_SERVER_RUNS.
const runs = Number(process.env.PROOF_MODEL_SERVER_RUNS ?? 20);

beforeAll(warmUp);
beforeEach(turnTime);
afterEach(() => void jest.useRealTimers());

describe('with the Postgres store on PGlite', () => {
  let db: PGlite;
  beforeAll(async () => {
    db = await PGlite.create();
    await postgresStore(db).migrate();
  }, 60_000);
  afterAll(() => db.close());

  // It is Postgres within this process, so its clock is the turned one.
  test('the receiver does what the model allows', async () => {
    await leadLives('the Postgres store', runs, async () => {
      await db.exec('TRUNCATE call_webhooks.webhook_ids, call_webhooks.events');
      const store = new OutsideStore(postgresStore(db, { now: Date.now }));
      return { store, time: timeOutside(store) };
    });
  }, 600_000);
});

describeWithProgram('redis-server', 'with the Redis store on a real server', () => {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    jest.useRealTimers();
    server = await redisServer();
    await server.start();
    client = new Redis(server.port, '127.0.0.1');
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  // Each step is longer by this, so that no delivery comes at the very end of a lease; a call may
  // take nearly as long before the two clocks' difference shows.
  const MORE_MS = 50;

  test('the receiver does what the model allows', async () => {
    await leadLives('the Redis store', runs, async () => {
      const store = await turnedRedis(client, { turned: Date.now, real: jest.getRealSystemTime });
      return {
        store,
        time: timeOutside(store, { moreMs: MORE_MS }),
        valid: () => store.slowestMs < MORE_MS / 2,
      };
    });
  }, 600_000);
});
