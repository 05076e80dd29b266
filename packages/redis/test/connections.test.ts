import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { collectingLogger, queuedCall } from '@call-webhooks/contract-tests';
import { bullmqQueue, createBullmqWorker, redisDeadLetters, redisStore } from '../src/index.ts';
import { fakeWorker } from './fake-worker.ts';

const some = () => Promise.resolve();
const queueOn = (connection: object) => ({
  ...{ add: some, isPaused: () => Promise.resolve(false) },
  opts: { connection, prefix: '{bull}' },
});
/** Makes a worker, and closes it. */
async function workerOn(connection: object, logger = collectingLogger()) {
  const bullmq = { prefix: '{bull}' };
  const options = { Worker: fakeWorker(), queueName: 'calls', connection, logger, bullmq };
  await createBullmqWorker(options).close();
}

describe('socketTimeout, without which ioredis waits for a dead connection', () => {
  const NONE = 'ioredis has no socketTimeout';
  const SHORT = `the socketTimeout of BullMQ's worker is`;
  const ioredis = (options: object) => ({ defineCommand: some, options });
  const others = [{ sendCommand: some }, { send: some, connected: true }];

  it.each<[string, object, string[], string[]]>([
    ['nothing', {}, [`${NONE} 5000`], [`${NONE} 15000`]],
    ['0', { socketTimeout: 0 }, [`${NONE} 5000`], [`${NONE} 15000`]],
    ['1', { socketTimeout: 1 }, [], [`${SHORT} 1`]],
    ['10,000', { socketTimeout: 10_000 }, [], [`${SHORT} 10000`]],
    ['10,001', { socketTimeout: 10_001 }, [], []],
    ['1 of a cluster', { redisOptions: { socketTimeout: 1 } }, [], [`${SHORT} 1`]],
    ['commandTimeout', { commandTimeout: 5_000 }, [`${NONE} 5000`], [`${NONE} 15000`]],
  ])('is %s: a queue and a worker say so', async (_name, options, ofQueue, ofWorker) => {
    const told = (make: (logger: ReturnType<typeof collectingLogger>) => unknown) => {
      const logger = collectingLogger();
      const made = make(logger);
      const lines = logger.entries.map(({ level, message }) => {
        const none = message.includes(NONE) && /Set socketTimeout: (\d+)\. \(/.exec(message);
        const short = /socketTimeout of BullMQ's worker is (\d+)\. /.exec(message);
        return `${level} ${none ? `${NONE} ${none[1]!}` : short ? `${SHORT} ${short[1]!}` : message}`;
      });
      return Promise.resolve(made).then(() => lines);
    };
    const warned = (lines: string[]) => lines.map((line) => `warn ${line}`);
    // Once for each: the options themselves, and a client that has them.
    for (const connection of [() => ({ ...options }), () => ioredis(options)]) {
      const [queue, worker] = [connection(), connection()];
      expect(await told((logger) => bullmqQueue(queueOn(queue), { logger }))).toEqual(
        warned(ofQueue),
      );
      expect(await told((logger) => workerOn(worker, logger))).toEqual(warned(ofWorker));
      expect(await told((logger) => bullmqQueue(queueOn(queue), { logger }))).toEqual([]);
    }
  });

  it.each(others)('is no option of another client: %p', async (client) => {
    const logger = collectingLogger();
    bullmqQueue(queueOn(client), { logger });
    await workerOn(client, logger);
    expect(logger.lines).toEqual([]);
  });
});

describe('a connection with which BullMQ would lose jobs is refused', () => {
  it.each([
    ['its own', (option: object) => option],
    ['of a client', (option: object) => ({ options: option })],
    ['of the nodes of a cluster', (option: object) => ({ options: { redisOptions: option } })],
  ])('for an option that is %s', async (_name, at) => {
    for (const [option, mistake] of [
      [{ keyPrefix: 'app:' }, 'leave out keyPrefix of ioredis, and set prefix of BullMQ'],
      [{ stringNumbers: true }, 'leave out stringNumbers of ioredis'],
    ] as const) {
      const connection = { ...at(option), isCluster: true };
      expect(() => bullmqQueue(queueOn(connection))).toThrow(
        `Invalid connection of BullMQ for bullmqQueue: ${mistake}.`,
      );
      await expect(workerOn(connection)).rejects.toThrow(
        `Invalid connection of BullMQ for createBullmqWorker: ${mistake}.`,
      );
    }
    await workerOn({ ...at({ keyPrefix: '', stringNumbers: false }), isCluster: true });
  });
});

describe('the database of a client of ioredis', () => {
  /** A client that keeps the databases that were selected, and whose server may have none of them. */
  function clientWith(options: object, more: object = {}) {
    const selected: number[] = [];
    const server = { refuses: false };
    const call = () => Promise.resolve('=[1]');
    const client = Object.assign(new EventEmitter(), {
      ...{ defineCommand: call, evalsha: call, eval: call, status: 'ready' },
      ...{ options: { socketTimeout: 5_000, ...options }, ...more },
      select: (db: number) => {
        selected.push(db);
        const error = Object.assign(new Error('ERR DB index is out of range'), {
          name: 'ReplyError',
        });
        return server.refuses ? Promise.reject(error) : Promise.resolve('OK');
      },
    });
    const logger = collectingLogger();
    const store = redisStore(client, { logger });
    return { client, store, selected, server, logger };
  }

  it('is asked for once for each connection, whatever uses the client', async () => {
    const { client, store, selected, server, logger } = clientWith({ db: 3 });
    const letters = redisDeadLetters(client, { logger });
    const queue = bullmqQueue({ ...queueOn({ socketTimeout: 5_000 }), client }, { logger });
    const useAll = async () => {
      for (let time = 0; time < 2; time++) await store.reopen!('event');
      await letters.remove('letter').catch(() => undefined);
      await queue.enqueue(queuedCall('call-1'));
    };
    await useAll();
    expect(selected).toEqual([3]);
    for (let connections = 2; connections <= 4; connections++) {
      client.emit('close');
      await useAll();
      expect(selected).toHaveLength(connections);
    }
    expect(client.listenerCount('close')).toBe(1);
    // The server came back with fewer databases.
    client.emit('close');
    server.refuses = true;
    for (let time = 0; time < 2; time++)
      await expect(store.reopen!('event')).rejects.toMatchObject({
        message:
          'The server has no database 3, or its user may not select it: ERR DB index is out of range. ioredis would use database 0 instead. Correct the number in the URL, or raise "databases" in the configuration of the server.',
        cause: { name: 'ReplyError' },
      });
    server.refuses = false;
    expect(await store.reopen!('event')).toBe(true);
  });

  it.each<[string, object, object]>([
    ['is the default', {}, {}],
    ['is 0', { db: 0 }, {}],
    ['is one of a cluster, which has no others', { db: 3 }, { isCluster: true }],
  ])('is not asked for if it %s', async (_name, options, more) => {
    const { store, selected } = clientWith(options, more);
    expect(await store.reopen!('event')).toBe(true);
    expect(selected).toEqual([]);
  });
});
