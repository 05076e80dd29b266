import { expect, it } from '@jest/globals';
import {
  collectingLogger,
  describeWithProgram,
  queuedCall,
  unique,
  waitFor,
} from '@call-webhooks/contract-tests';
import { Queue, Worker } from 'bullmq';
import { Cluster, Redis } from 'ioredis';
import { bullmqDeadJobs, bullmqQueue, createBullmqWorker } from '../src/index.ts';
import { useBullmq } from './use-bullmq.ts';
import { useRedis } from './use-redis.ts';

const logger = collectingLogger();

describeWithProgram('redis-server', 'whatever the options of BullMQ say', () => {
  const { test, work } = useBullmq();

  it.each<[string, object, object]>([
    ['removeOnFail of the queue', { removeOnFail: true }, {}],
    ['removeOnFail of the queue, with an age', { removeOnFail: { age: 0, count: 0 } }, {}],
    ['removeOnFail of the worker', {}, { removeOnFail: { count: 0 } }],
    ['stackTraceLimit and keepLogs', { stackTraceLimit: 0, keepLogs: 0 }, {}],
    ['attempts and backoff', { attempts: 1, backoff: { type: 'fixed', delay: 3_600_000 } }, {}],
    ['priority and lifo', { priority: 5, lifo: true }, {}],
    ['maxStalledCount', {}, { maxStalledCount: 0 }],
  ])('a dead job stays, and can be run again: %s', async (_name, defaults, bullmq) => {
    const connection = { host: '127.0.0.1', port: test.server.port, socketTimeout: 60_000 };
    const queue = new Queue(test.queue.name, { connection, defaultJobOptions: defaults });
    const hand = bullmqQueue(queue, { maxRuns: 2, logger });
    const [callId, other] = [unique('call'), unique('call')];
    const runs: string[] = [];
    let isDown = true;
    work(
      {
        on: {
          'call:completed': (event) => {
            runs.push(String(event.callId));
            if (isDown) throw new Error('the CRM is down');
          },
        },
      },
      { bullmq },
    );
    for (const id of [callId, other]) await hand.enqueue(queuedCall(id));
    await waitFor(async () => (await queue.getFailedCount()) === 2);
    await hand.enqueue(queuedCall(callId)); // known
    expect(await queue.getFailedCount()).toBe(2);
    expect(runs.sort()).toEqual([callId, callId, other, other].sort());

    isDown = false;
    const deadJobs = bullmqDeadJobs(queue);
    for (const { id } of (await deadJobs.list()).letters)
      expect(await deadJobs.requeue(id)).toBe(true);
    await waitFor(async () => (await queue.getCompletedCount()) === 2);
    await queue.close();
  });

  it.each<[string, object, object]>([
    ['removeOnComplete of the queue', { removeOnComplete: true }, {}],
    ['removeOnComplete of the worker', {}, { removeOnComplete: { count: 0 } }],
  ])('a done event stays known: %s', async (_name, defaults, bullmq) => {
    const connection = { host: '127.0.0.1', port: test.server.port, socketTimeout: 60_000 };
    const queue = new Queue(test.queue.name, { connection, defaultJobOptions: defaults });
    const hand = bullmqQueue(queue, { logger });
    const [callId, next] = [unique('call'), unique('call')];
    const runs: string[] = [];
    work({ on: { 'call:completed': (event) => void runs.push(String(event.callId)) } }, { bullmq });
    await hand.enqueue(queuedCall(callId));
    await waitFor(async () => (await queue.getCompletedCount()) === 1);
    await hand.enqueue(queuedCall(callId));
    await hand.enqueue(queuedCall(next));
    await waitFor(async () => (await queue.getCompletedCount()) === 2);
    expect(runs).toEqual([callId, next]);
    await queue.close();
  });

  it.each<[string, object]>([
    ['deduplication', { deduplication: { id: 'all' } }],
    ['debounce', { debounce: { id: 'all', ttl: 5_000 } }],
    ['parent', { parent: { id: '1', queue: 'bull:others' } }],
    ['repeat', { repeat: { every: 1_000 } }],
    ['sizeLimit', { sizeLimit: 10 }],
    ['delay', { delay: 3_600_000 }],
  ])(
    'a default of the queue that would drop or hold back deliveries is refused: %s',
    async (name, defaults) => {
      const connection = { host: '127.0.0.1', port: test.server.port, socketTimeout: 60_000 };
      const queue = new Queue(test.queue.name, { connection, defaultJobOptions: defaults });
      expect(() => bullmqQueue(queue)).toThrow(
        expect.objectContaining({
          code: 'invalid-options',
          message: expect.stringContaining(`for bullmqQueue: leave out ${name}:`),
        }),
      );
      await queue.close();
    },
  );

  it.each<[string, unknown]>([
    ['skipLockRenewal', true],
    ['skipStalledCheck', true],
    ['maxStartedAttempts', 3],
    ['lockRenewTime', 60_000],
    ['settings', { backoffStrategy: () => -1 }],
    ['connection', {}],
    ['concurrency', 1],
  ])('an option of the worker that would lose jobs is refused: %s', (name, value) => {
    expect(() => work({}, { bullmq: { [name]: value } })).toThrow(
      expect.objectContaining({
        code: 'invalid-options',
        message: expect.stringContaining(`for createBullmqWorker: leave out ${name}:`),
      }),
    );
  });
});

describeWithProgram('redis-server', 'a worker of BullMQ that runs nothing', () => {
  const { test, work } = useBullmq();
  const queueHealth = async (made: ReturnType<typeof work>) => (await made.health()).queue;

  it.each<[string, object]>([
    ['autorun', { autorun: false }],
    ['limiter', { limiter: { max: 0, duration: 1_000 } }],
    ['limiter', { limiter: { duration: 1_000 } }],
    ['limiter', { limiter: { max: 1, duration: 0 } }],
    ['limiter', { limiter: { max: 1 } }],
    ['limiter', { limiter: { max: 0.9, duration: 1_000 } }],
  ])('is refused: %s', (name, bullmq) => {
    expect(() => work({}, { bullmq })).toThrow(
      expect.objectContaining({
        code: 'invalid-options',
        message: expect.stringContaining(name),
      }),
    );
  });

  it.each<[string, object]>([
    ['another prefix than the queue', { bullmq: { prefix: 'others' } }],
    ['another name', { queueName: 'others' }],
  ])('is not ready: it has %s', async (_what, more) => {
    await test.queue.waitUntilReady();
    const made = work({}, more);
    const seen = await queueHealth(made);
    expect(seen).toMatchObject({
      status: 'down',
      error: expect.stringMatching(/There is no queue with the name "\S+" and the prefix "\S+"/),
    });
    const right = work({});
    await waitFor(async () => (await right.health()).ok);
  });

  it('is not ready: the queue or the worker is paused', async () => {
    const made = work({});
    await waitFor(async () => (await made.health()).ok);
    await test.queue.pause();
    expect(await made.health()).toMatchObject({ ok: false, paused: true });
    await test.queue.resume();
    expect((await made.health()).ok).toBe(true);
    await made.worker.pause();
    expect(await made.health()).toMatchObject({ ok: false, paused: true });
    await made.worker.resume();
    await waitFor(async () => (await made.health()).ok);
  });

  it('takes nothing from database 0 if the server lacks its own', async () => {
    const queue = test.queue;
    const ran: unknown[] = [];
    const lines = collectingLogger();
    await bullmqQueue(queue, { logger }).enqueue(queuedCall(unique('call')));
    const connection = { host: '127.0.0.1', port: test.server.port, db: 99 };
    const handlers = { 'call:completed': () => void ran.push(1) };
    const made = work({ on: handlers, logger: lines }, { connection });
    const named = expect.stringContaining('has no database 99');
    await waitFor(async () => lines.lines.some((line) => line.includes('has no database 99')));
    expect(await queueHealth(made)).toMatchObject({ status: 'down', error: named });
    const lost = new Queue(queue.name, { connection });
    lost.on('error', () => undefined);
    const hand = bullmqQueue(lost, { logger });
    await expect(hand.enqueue(queuedCall(unique('call')))).rejects.toThrow('has no database 99');
    await expect(hand.ping!()).rejects.toThrow('has no database 99');
    expect(await queue.getWaitingCount()).toBe(1);
    expect(ran).toEqual([]);
    await lost.close();
  });
});

describeWithProgram('redis-server', 'a connection with which BullMQ would lose jobs', () => {
  const { test } = useBullmq();

  it.each(['keyPrefix', 'stringNumbers'])('is refused: %s', async (name) => {
    const options = {
      port: test.server.port,
      maxRetriesPerRequest: null,
      [name]: name === 'keyPrefix' ? 'app:' : true,
    };
    const queue = new Queue('calls', { connection: options });
    const mistake = `leave out ${name} of ioredis`;
    expect(() => bullmqQueue(queue)).toThrow(mistake);
    const client = new Redis(options);
    for (const connection of [options, client])
      expect(() => createBullmqWorker({ Worker, queueName: 'calls', connection })).toThrow(mistake);
    client.disconnect();
    await queue.close();
  });
});

describeWithProgram('redis-server', 'BullMQ on a cluster', () => {
  const test = useRedis({ cluster: true });
  const connect = () =>
    new Cluster([{ host: '127.0.0.1', port: test.server.port }], {
      redisOptions: { maxRetriesPerRequest: null },
    });

  it('runs jobs under a prefix in braces', async () => {
    const [forQueue, forWorker] = [connect(), connect()];
    const queueName = unique('calls');
    const queue = new Queue(queueName, { connection: forQueue, prefix: '{bull}' });
    const callId = unique('call');
    await bullmqQueue(queue, { logger }).enqueue(queuedCall(callId));
    const handled: unknown[] = [];
    const worker = createBullmqWorker({
      ...{ Worker, queueName, connection: forWorker, bullmq: { prefix: '{bull}' }, logger },
      on: { 'call:completed': (event) => void handled.push(event.callId) },
    });
    await waitFor(() => handled.length > 0);
    expect(handled).toEqual([callId]);
    await worker.close();
    await queue.close();
    for (const client of [forQueue, forWorker]) client.disconnect();
  });

  it('is refused without one, whose keys would be in several slots', async () => {
    const cluster = connect();
    const queue = new Queue('calls', { connection: cluster });
    queue.on('error', () => undefined);
    const mistake = 'on a cluster, the queue and its workers need a prefix in braces';
    expect(() => bullmqQueue(queue)).toThrow(mistake);
    expect(() => createBullmqWorker({ Worker, queueName: 'calls', connection: cluster })).toThrow(
      mistake,
    );
    await queue.close().catch(() => undefined);
    cluster.disconnect();
  });
});
