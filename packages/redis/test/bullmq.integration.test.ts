import { expect, it } from '@jest/globals';
import {
  collectingLogger,
  deferred,
  describeWithProgram,
  queuedCall,
  unique,
  waitFor,
} from '@call-webhooks/contract-tests';
import type { DeadLetter, HandlerContext, QueuedDelivery } from '@call-webhooks/core';
import { UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqDeadJobs, bullmqQueue } from '../src/index.ts';
import { deliverer } from './deliverer.ts';
import { SHORT_LOCKS, useBullmq } from './use-bullmq.ts';

describeWithProgram('redis-server', 'a receiver, BullMQ, and workers that come and go', () => {
  const { test, work } = useBullmq();

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
    for (const callId of calls) expect(await test.receiver.deliver(callId)).toBe('queued');
    for (const callId of calls) expect(await test.receiver.deliver(callId)).toBe('duplicate');
    await waitFor(() => failed > calls.length * 4);
    down = false;
    await waitFor(() => handled.length >= calls.length);
    expect(handled.sort()).toEqual(calls.sort());
    expect(await test.queue.getFailedCount()).toBe(0);
  });

  it('keeps handled jobs for rememberFor, and no longer', async () => {
    const receiver = deliverer({ queue: bullmqQueue(test.queue, { rememberFor: 600_000 }) });
    work({ on: { 'call:completed': () => undefined } });
    const handled = async () => (await test.queue.getCompleted()).map(({ id }) => id as string);
    const deliverAnother = async (expected: number) => {
      expect(await receiver.deliver(unique('call'))).toBe('queued');
      await waitFor(async () => (await handled()).length === expected);
    };
    const completed = test.queue.toKey('completed');
    const client = new Redis(test.server.port, '127.0.0.1', { socketTimeout: 60_000 });
    await deliverAnother(1);
    const [first] = (await handled()) as [string];
    const endedAgo = (ms: number) => client.zadd(completed, Date.now() - ms, first);
    await endedAgo(590_000);
    await deliverAnother(2); // BullMQ removes old jobs when one is handled
    await endedAgo(610_000);
    expect(await receiver.deliver(unique('call'))).toBe('queued');
    await waitFor(async () => !(await handled()).includes(first));
    expect(await handled()).toHaveLength(2);
    client.disconnect();
    await receiver.close();
  });

  it('keeps nothing of the body or the trace of a handled job, and all by which it is known', async () => {
    work({ on: { 'call:completed': () => undefined } });
    const trace = { traceparent: `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`, tracestate: 'k=v' };
    const delivery = queuedCall(unique('call'), { trace });
    await bullmqQueue(test.queue).enqueue(delivery);
    const data = async () =>
      (await test.queue.getCompleted())[0]?.data as QueuedDelivery | undefined;
    await waitFor(async () => (await data())?.body === '');
    const { trace: _trace, ...left } = delivery;
    expect(await data()).toEqual({ ...left, body: '' });
  });

  it('completes no job in a transaction: Redis has none that a database could join', async () => {
    const errors: unknown[] = [];
    work({
      on: {
        'call:completed': ({ callId }, { completeIn, attempt }) => {
          if (attempt > 1) return;
          try {
            void completeIn({ query: () => undefined });
          } catch (error) {
            errors.push(callId, error);
            throw error;
          }
        },
      },
    });
    const callId = unique('call');
    await test.receiver.deliver(callId);
    await waitFor(() => errors.length > 0);
    expect(errors).toEqual([
      callId,
      expect.objectContaining({ code: 'invalid-options', name: 'WebhookError' }),
    ]);
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
    for (const callId of calls) expect(await test.receiver.deliver(callId)).toBe('queued');
    await test.server.kill();
    const late = unique('call');
    expect(await test.receiver.deliver(late)).toBe('store-unavailable');
    expect(await test.receiver.health()).toBe(false);
    go.resolve();
    await test.server.start();
    await waitFor(async () => ['queued', 'duplicate'].includes(await test.receiver.deliver(late)), {
      every: 50,
    });
    expect(await test.receiver.health()).toBe(true);
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
    await test.receiver.deliver(callId);
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
    await waitFor(async () => (await test.queue.getCompletedCount()) === 1);
    hang.resolve();
  });

  it('runs a delivery once that was put into the queue by hand, without attempts', async () => {
    const kept: DeadLetter[] = [];
    let runs = 0;
    const fail = () => {
      runs += 1;
      throw new Error('the CRM is down');
    };
    work({ on: { 'call:completed': fail }, deadLetter: (letter) => void kept.push(letter) });
    await test.queue.add('call:completed', queuedCall(unique('call')));
    await waitFor(() => kept.length === 1);
    expect(runs).toBe(1);
  });

  it('asks deadLetter again for a job that died early and was requeued, without running it once more', async () => {
    await test.receiver.deliver(unique('call'));
    const connection = { host: '127.0.0.1', port: test.server.port, socketTimeout: 60_000 };
    const killer = new Worker(
      test.queue.name,
      () => Promise.reject(new UnrecoverableError('not mine')),
      { connection },
    );
    await waitFor(async () => (await test.queue.getFailedCount()) === 1);
    await killer.close();
    const [job] = await test.queue.getFailed();
    expect(await bullmqDeadJobs(test.queue).requeue(job!.id!)).toBe(true);
    let runs = 0;
    const letters: DeadLetter[] = [];
    work({
      on: {
        'call:completed': () => {
          runs += 1;
          throw new Error('the CRM is down');
        },
      },
      deadLetter(letter) {
        if (letters.push(letter) < 3) throw new Error('the disk is full');
      },
    });
    await waitFor(async () => (await test.queue.getFailedCount()) === 1);
    expect(runs).toBe(1);
    expect(letters).toHaveLength(3);
  });

  it('gives up on a job in which too many workers died, and tells deadLetter once, without running it', async () => {
    const kept: DeadLetter[] = [];
    let runs = 0;
    const hang = deferred();
    const on = {
      'call:completed': async () => {
        runs += 1;
        await hang.promise;
      },
    };
    await test.receiver.deliver(unique('call'));
    for (let crash = 1; crash <= 2; crash++) {
      const made = work({ on });
      await waitFor(() => runs === crash);
      await made.close({ graceMs: 0 });
    }
    const once = { ...SHORT_LOCKS, maxStalledCount: 1 };
    const handlers = {
      on: { 'call:completed': () => void (runs += 1) },
      deadLetter: (letter: DeadLetter) => void kept.push(letter),
    };
    work(handlers, { bullmq: once });
    await waitFor(() => kept.length === 1);
    expect(await test.queue.getFailedCount()).toBe(1);
    expect(kept[0]).toMatchObject({ reason: 'handler-failed', callId: expect.any(String) });
    expect(String(kept[0]?.error)).toContain('stalled');
    expect(runs).toBe(2);
    await test.queue.retryJobs();
    await waitFor(async () => (await test.queue.getCompletedCount()) === 1);
    expect(runs).toBe(3);
    expect(kept).toHaveLength(1);
    hang.resolve();
  });

  it('aborts a job that lost its lock, which may run elsewhere, and no other job', async () => {
    const signals = new Map<unknown, AbortSignal>();
    const hang = deferred();
    const logger = collectingLogger();
    // Nobody takes the job over.
    work(
      {
        on: {
          'call:completed': ({ callId }, { signal }) => {
            signals.set(callId, signal);
            return hang.promise;
          },
        },
        logger,
      },
      { bullmq: { ...SHORT_LOCKS, stalledInterval: 60_000 } },
    );
    const calls = [unique('call'), unique('call'), unique('call')];
    for (const callId of calls) await test.receiver.deliver(callId);
    await waitFor(() => signals.size === calls.length);
    const jobs = (await test.queue.getActive()) as { id?: string; data: QueuedDelivery }[];
    const lost = jobs.find(({ data }) => atob(data.body).includes(calls[1]!));
    const admin = new Redis(test.server.port, '127.0.0.1', { socketTimeout: 60_000 });
    await admin.del(`${test.queue.toKey(String(lost?.id))}:lock`);
    admin.disconnect();
    await waitFor(() => [...signals.values()].some(({ aborted }) => aborted));
    expect(calls.map((callId) => signals.get(callId)!.aborted)).toEqual([false, true, false]);
    expect(logger.lines.join()).toContain('could not renew lock for job event-');
    hang.resolve();
  });

  it('leaves no connection behind when it closes, also while a job hangs', async () => {
    const admin = new Redis(test.server.port, '127.0.0.1', { socketTimeout: 60_000 });
    const connections = async () =>
      String(await admin.client('LIST'))
        .trim()
        .split('\n').length;
    const before = await connections();
    const started = deferred();
    const hang = deferred();
    const made = work({
      on: {
        'call:completed': () => {
          started.resolve();
          return hang.promise;
        },
      },
    });
    await test.receiver.deliver(unique('call'));
    await started.promise;
    expect(await connections()).toBeGreaterThan(before);
    await made.close({ graceMs: 0 });
    await waitFor(async () => (await connections()) <= before, { within: 5_000 });
    hang.resolve();
    admin.disconnect();
  });

  it('closes in time though the server is frozen, and aborts its handlers', async () => {
    const started = deferred<AbortSignal>();
    const hang = deferred();
    const made = work({
      on: {
        'call:completed': (_event, { signal }) => {
          started.resolve(signal);
          return hang.promise;
        },
      },
    });
    await test.receiver.deliver(unique('call'));
    const signal = await started.promise;
    test.server.freeze();
    const from = performance.now();
    await made.close({ graceMs: 200 });
    expect(performance.now() - from).toBeLessThan(15_000); // 2 s, and time for a slow machine
    expect(signal.aborted).toBe(true);
    test.server.thaw();
    hang.resolve();
  });

  it('waits for a running job when it closes, also if it is told twice', async () => {
    const started = deferred<AbortSignal>();
    const ends = deferred();
    const made = work({
      on: {
        'call:completed': (_event, { signal }) => {
          started.resolve(signal);
          return ends.promise;
        },
      },
    });
    await test.receiver.deliver(unique('call'));
    const signal = await started.promise;
    const closed = Promise.all([made.close(), made.close()]);
    await test.queue.isPaused(); // a round trip later
    expect(signal.aborted).toBe(false);
    ends.resolve();
    await closed;
    expect(signal.aborted).toBe(false);
    expect(await test.queue.getCompletedCount()).toBe(1);
  });
});
