import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, jest } from '@jest/globals';
import type { DeadLetter } from '@call-webhooks/core';
import { deferred, queuedCall, waitFor } from '@call-webhooks/contract-tests';
import { pgBossQueue } from '../src/index.ts';
import { withPostgres } from './support.ts';
import { expireJobs } from './pg-boss-version.ts';
import { usePgBoss } from './use-pg-boss.ts';

withPostgres('a job of pg-boss after its last run', () => {
  const { test, work, jobs } = usePgBoss();

  async function killedBy(queue: string): Promise<void> {
    const script = fileURLToPath(new URL('support-killer.ts', import.meta.url));
    const options = ['--import', 'tsx', '--conditions=@call-webhooks/source'];
    const killer = spawn(process.execPath, [...options, script, test.server.url, queue], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    expect(await once(killer, 'exit')).toEqual([null, 'SIGKILL']);
    await waitFor(async () => {
      await expireJobs(test.boss);
      return (await jobs(queue)).some(({ state }) => state === 'retry');
    });
  }

  it('is handed to deadLetter, and not begun again, when its worker was killed: if the next one is killed too, by the one after it', async () => {
    const once = {
      maxRuns: 1,
      expireIn: 1_000,
      backoff: { initialDelay: 0 },
      retainFor: 30 * 86_400_000,
    };
    const queue = pgBossQueue(test.boss, { queue: 'killed', ...once });
    const delivery = queuedCall('call-1');
    await queue.enqueue(delivery);
    await killedBy('killed'); // in the handler
    await killedBy('killed'); // in deadLetter
    expect(await jobs('killed-dead')).toEqual([]);

    const letters: DeadLetter[] = [];
    let runs = 0;
    work('killed', {
      on: { 'call:completed': () => void (runs += 1) },
      deadLetter: (one) => void letters.push(one),
    });
    await waitFor(async () => (await jobs('killed'))[0]?.state === 'completed');
    expect(runs).toBe(0);
    expect(letters).toEqual([
      expect.objectContaining({ key: delivery.key, attempt: 3, reason: 'handler-failed' }),
    ]);
    expect(String(letters[0]?.error)).toContain('Its last run did not end');
    const dead = await jobs('killed-dead');
    expect(dead.map(({ data }) => data)).toEqual([delivery]);
    const keptFor = (dead[0]!.keep_until.getTime() - Date.now()) / 86_400_000; // days
    expect(keptFor).toBeGreaterThan(24_000); // until its user removes it
    expect(dead[0]!.failure).toMatchObject({ retentionSeconds: 30 * 86_400 });
    await queue.enqueue(queuedCall('call-1')); // a late duplicate
    expect(await jobs('killed')).toHaveLength(1);
  });

  it('is run again when its worker was closed in it', async () => {
    const queue = pgBossQueue(test.boss, {
      queue: 'closed',
      maxRuns: 1,
      backoff: { initialDelay: 0 },
    });
    const attempts: number[] = [];
    const letters: DeadLetter[] = [];
    const started = deferred();
    const never = deferred();
    const start = (end?: Promise<void>) =>
      work('closed', {
        deadLetter: (one) => void letters.push(one),
        on: {
          'call:completed': (_event, { attempt }) => {
            attempts.push(attempt);
            started.resolve();
            return end;
          },
        },
      });
    await queue.enqueue(queuedCall('call-1'));
    const first = start(never.promise);
    await started.promise;
    await first.close({ graceMs: 0 });
    start();
    await waitFor(async () => (await jobs('closed'))[0]?.state === 'completed');
    expect(attempts).toEqual([1, 2]);
    expect(letters).toEqual([]);
    expect(await jobs('closed-dead')).toEqual([]);
  });

  it('is kept in a queue for dead jobs that is made anew where it is missing; one sent by hand keeps its limit', async () => {
    await test.boss.createQueue('by-hand');
    const letters: DeadLetter[] = [];
    work('by-hand', {
      deadLetter: (one) => void letters.push(one),
      on: {
        'call:completed': async (_event, { attempt }) => {
          if (attempt === 2) await test.boss.deleteQueue('by-hand-dead');
          throw new Error('never');
        },
      },
    });
    const delivery = queuedCall('call-1');
    await test.boss.send('by-hand', delivery, { retryLimit: 1, retryDelay: 0 });
    await waitFor(async () => (await jobs('by-hand-dead')).length > 0);
    expect(letters.map(({ attempt }) => attempt)).toEqual([2]);
    expect((await jobs('by-hand-dead')).map(({ data }) => data)).toEqual([delivery]);
  });

  it('is not closed before its copy without a limit is kept, if it was sent by hand', async () => {
    await test.boss.createQueue('copied');
    await test.boss.send('copied', queuedCall('call-1'), { retryLimit: 0 });
    const refused = deferred();
    const send = jest.spyOn(test.boss, 'send').mockImplementation(() => {
      refused.resolve();
      return Promise.reject(new Error('the disk is full'));
    });
    const handled = deferred();
    const worker = work('copied', { on: { 'call:completed': () => handled.resolve() } });
    await refused.promise;
    expect((await jobs('copied')).map(({ state }) => state)).toEqual(['active']);
    send.mockRestore();
    await handled.promise;
    await worker.close();
    expect((await jobs('copied')).map(({ state }) => state)).toEqual(['completed', 'completed']);
  });

  it('is not given up while deadLetter fails, also when its worker was killed', async () => {
    const queue = pgBossQueue(test.boss, {
      queue: 'sink',
      maxRuns: 1,
      expireIn: 1_000,
      backoff: { initialDelay: 0 },
    });
    await queue.enqueue(queuedCall('call-1'));
    await killedBy('sink');
    let asked = 0;
    let runs = 0;
    work('sink', {
      on: { 'call:completed': () => void (runs += 1) },
      deadLetter: () => {
        if (++asked < 3) throw new Error('the disk is full');
      },
    });
    await waitFor(async () => (await jobs('sink-dead')).length === 1);
    expect(asked).toBe(3);
    expect(runs).toBe(0);
  });

  it.each(['its handler failed', 'its worker was killed'])(
    'is not given up while deadLetter fails, though it was sent by hand and %s',
    async (why) => {
      const name = `by-hand-${why.replaceAll(' ', '-')}`;
      await test.boss.createQueue(name);
      const delivery = queuedCall('call-1');
      const id = await test.boss.send(name, delivery, { retryLimit: 0, expireInSeconds: 1 });
      const wasKilled = why === 'its worker was killed';
      if (wasKilled) await killedBy(name);
      const letters: DeadLetter[] = [];
      let asked = 0;
      let runs = 0;
      work(name, {
        on: {
          'call:completed': () => {
            runs += 1;
            throw new Error('never');
          },
        },
        deadLetter(letter) {
          if (++asked < 3) throw new Error('the disk is full');
          letters.push(letter);
        },
      });
      await waitFor(async () => (await jobs(`${name}-dead`)).length === 1);
      expect(asked).toBe(3);
      expect(runs).toBe(wasKilled ? 0 : 1);
      expect(letters).toEqual([expect.objectContaining({ key: delivery.key })]);
      expect((await jobs(`${name}-dead`))[0]?.data).toEqual(delivery);
      // The copy among the dead jobs comes first, so that none is lost.
      await waitFor(async () => (await jobs(name)).every(({ state }) => state === 'completed'));
      const states = (await jobs(name)).map((job) => [job.id === id, job.state]);
      expect(states).toEqual([
        [true, 'completed'],
        [false, 'completed'],
      ]);
    },
    120_000,
  );
});
