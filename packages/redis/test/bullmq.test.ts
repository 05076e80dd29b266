import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import {
  collectingLogger,
  deferred,
  describeWithProgram,
  redisServer,
  unique,
  waitFor,
  type WorkerHandlers,
  type RedisServer,
} from '@call-webhooks/contract-tests';
import type { HandlerContext, DeadLetter } from '@call-webhooks/core';
import { Queue, Worker } from 'bullmq';
import { BACKOFF_TYPE, backoffStrategy } from '../src/bullmq-backoff.ts';
import { bullmqQueue, createBullmqWorker } from '../src/index.ts';
import { deliverer, type Deliverer } from './deliverer.ts';

jest.setTimeout(30_000);

it('delays jobs of ours alone', () => {
  const strategy = backoffStrategy({ initialDelay: 1_000, maxDelay: 60_000 });
  expect(strategy(6, BACKOFF_TYPE)).toBeGreaterThanOrEqual(32_000 * 0.9);
  expect(strategy(99, BACKOFF_TYPE)).toBeLessThanOrEqual(60_000 * 1.1);
  expect(strategy(6, 'of somebody else')).toBe(0);
});

describeWithProgram('redis-server', 'a receiver, BullMQ, and workers that come and go', () => {
  let server: RedisServer;
  let queue: Queue;
  let receiver: Deliverer;
  const toClose: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    server = await redisServer({ durable: true });
    await server.start();
  });
  afterAll(() => server.stop());

  beforeEach(() => {
    const connection = { host: '127.0.0.1', port: server.port };
    queue = new Queue(unique('calls'), { connection });
    queue.on('error', () => undefined);
    receiver = deliverer({ queue: bullmqQueue(queue) });
  });
  afterEach(async () => {
    await receiver.close();
    for (const close of toClose.splice(0)) await close();
    await queue.close();
  });

  /** A worker whose jobs are taken over when it was silent for a moment. */
  const work = (handlers: WorkerHandlers, more: object = {}) => {
    const made = createBullmqWorker({
      ...{ Worker, queueName: queue.name, connection: { host: '127.0.0.1', port: server.port } },
      ...{ backoff: { initialDelay: 20, maxDelay: 200 }, logger: collectingLogger() },
      bullmq: { lockDuration: 300, stalledInterval: 100, runRetryDelay: 100 },
      ...more,
      ...handlers,
    });
    toClose.push(() => made.close({ graceMs: 0 }));
    return made;
  };

  it('a handler that fails for long pauses nothing and loses nothing: once it heals, all is handled', async () => {
    let down = true;
    let failed = 0;
    const handled: string[] = [];
    work({
      on: {
        'call:completed': (event) => {
          if (down) failed += 1;
          if (down) throw new Error('the CRM is down');
          handled.push(String(event.callId));
        },
      },
    });
    const calls = Array.from({ length: 30 }, () => unique('call'));
    for (const callId of calls) expect(await receiver.deliver(callId)).toBe('queued');
    for (const callId of calls) expect(await receiver.deliver(callId)).toBe('duplicate');
    await waitFor(() => failed > calls.length * 4);
    down = false;
    await waitFor(() => handled.length >= calls.length);
    expect(handled.sort()).toEqual(calls.sort());
    expect(await queue.getFailedCount()).toBe(0);
  });

  it('the server dies and comes back: 503 in time while it is away, then well, and nothing is lost', async () => {
    const handled: string[] = [];
    const go = deferred();
    work({
      on: {
        'call:completed': async (event) => {
          await go.promise;
          handled.push(String(event.callId));
        },
      },
    });
    const calls = Array.from({ length: 12 }, () => unique('call'));
    for (const callId of calls) expect(await receiver.deliver(callId)).toBe('queued');
    await server.kill();
    const late = unique('call');
    expect(await receiver.deliver(late)).toBe('store-unavailable');
    expect(await receiver.health()).toBe(false);
    go.resolve();
    await server.start();
    await waitFor(async () => ['queued', 'duplicate'].includes(await receiver.deliver(late)), {
      every: 50,
    });
    expect(await receiver.health()).toBe(true);
    await waitFor(() => new Set(handled).size === calls.length + 1);
    expect(new Set(handled)).toEqual(new Set([...calls, late]));
  });

  it('a worker that can not end its job leaves it to another, with a higher attempt; the first one commits nothing', async () => {
    const callId = unique('call');
    const contexts: HandlerContext[] = [];
    const started = deferred();
    const hang = deferred();
    const first = work({
      on: {
        'call:completed': async (_event, context) => {
          contexts.push(context);
          started.resolve();
          await hang.promise; // deaf to its signal
        },
      },
    });
    await receiver.deliver(callId);
    await started.promise;
    await first.close({ graceMs: 0 });
    expect(contexts[0]?.signal.aborted).toBe(true);
    const second = deferred();
    work({
      on: {
        'call:completed': (_event, context) => {
          contexts.push(context);
          second.resolve();
        },
      },
    });
    await second.promise;
    expect(contexts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    await waitFor(async () => (await queue.getCompletedCount()) === 1);
    hang.resolve();
  });

  it('gives up on a job in which too many workers died, and hands it over without running it', async () => {
    const kept: DeadLetter[] = [];
    let runs = 0;
    const hang = deferred();
    const on = {
      'call:completed': async () => {
        runs += 1;
        await hang.promise;
      },
    };
    await receiver.deliver(unique('call'));
    for (let crash = 1; crash <= 2; crash++) {
      const made = work({ on });
      await waitFor(() => runs === crash);
      await made.close({ graceMs: 0 });
    }
    work({ on, deadLetter: (letter) => void kept.push(letter) }, { maxCrashes: 1 });
    await waitFor(async () => (await queue.getFailedCount()) === 1);
    expect(kept).toHaveLength(1);
    expect(kept[0]?.error).toEqual(new Error('2 workers died in this job.'));
    expect(runs).toBe(2);
    hang.resolve();
  });
});
