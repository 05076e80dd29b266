import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { collectingLogger, queuedCall, waitFor } from '@call-webhooks/contract-tests';
import type { DeadLetter } from '@call-webhooks/core';
import Database from 'libsql';
import {
  createSqliteWorker,
  sqliteQueue,
  type SqliteQueue,
  type SqliteWorker,
  type SqliteWorkerOptions,
} from '../src/index.ts';
import { freshFile } from './support.ts';

describe('dead jobs', () => {
  let place: ReturnType<typeof freshFile>;
  let db: InstanceType<typeof Database>;
  let queue: SqliteQueue;
  let worker: SqliteWorker;
  let runs: number[];
  beforeEach(() => {
    place = freshFile();
    db = new Database(place.file);
    queue = sqliteQueue(db);
    runs = [];
  });
  afterEach(async () => {
    await worker.close();
    db.close();
    place.remove();
  });

  function start(handle: () => unknown, options: Partial<SqliteWorkerOptions> = {}): void {
    worker = createSqliteWorker(queue, {
      logger: collectingLogger(),
      pollEvery: 10,
      maxAttempts: 1,
      backoff: { initialDelay: 1, maxDelay: 1 },
      on: {
        'call:completed': (_event, { attempt }) => {
          runs.push(attempt);
          return handle();
        },
      },
      ...options,
    });
  }
  const isDead = () => waitFor(async () => (await queue.stats()).dead === 1);

  it('are run at each retry, however often they are retried', async () => {
    let broken = true;
    start(() => {
      if (broken) throw new Error('no');
    });
    await queue.enqueue(queuedCall('call-1'));
    for (let retry = 1; retry <= 12; retry++) {
      await isDead();
      expect(runs).toHaveLength(retry);
      const [job] = await queue.deadLetters();
      expect(job).toMatchObject({ attempt: retry, error: 'The handler failed: Error: no' });
      if (retry === 12) broken = false;
      expect(await queue.retryDead(job!.id)).toBe(true);
    }
    await waitFor(async () => (await queue.stats()).done === 1);
    expect(runs).toHaveLength(13);
  });

  it('are run at a retry when they died because their process did', async () => {
    const letters: DeadLetter[] = [];
    await queue.enqueue(queuedCall('call-1'));
    db.exec("UPDATE call_webhooks_jobs SET attempt = 4, crashes = 3, token = 'of a dead process'");
    start(() => undefined, { deadLetter: (letter) => void letters.push(letter) });
    await isDead();
    expect(runs).toEqual([]);
    expect(String(letters[0]!.error)).toContain(
      'Its process died in each of the last attempts (4)',
    );
    const [job] = await queue.deadLetters();
    await queue.retryDead(job!.id);
    await waitFor(async () => (await queue.stats()).done === 1);
    expect(runs).toEqual([6]);
  });

  it('are not given up while deadLetter fails: it is called again, without the handler, also by the next worker', async () => {
    const letters: DeadLetter[] = [];
    let asked = 0;
    const broken = () => {
      asked += 1;
      throw new Error('the disk is full');
    };
    const fail = () => {
      throw new Error('the CRM is down');
    };
    start(fail, { deadLetter: broken });
    await queue.enqueue(queuedCall('call-1'));
    await waitFor(() => asked >= 3);
    expect(await queue.stats()).toMatchObject({ dead: 0 });
    await worker.close(); // it may have taken the job once more, without asking
    const { attempt } = db.prepare('SELECT attempt FROM call_webhooks_jobs').get() as {
      attempt: number;
    };
    expect(attempt).toBeGreaterThanOrEqual(asked);
    start(fail, { deadLetter: (letter) => void letters.push(letter) });
    await isDead();
    expect(runs).toEqual([1]);
    expect(letters).toMatchObject([
      { attempt: attempt + 1, error: new Error('The handler failed: Error: the CRM is down') },
    ]);
  });

  it('are given up for crashes only once deadLetter was told', async () => {
    let asked = 0;
    await queue.enqueue(queuedCall('call-1'));
    db.exec("UPDATE call_webhooks_jobs SET attempt = 4, crashes = 3, token = 'of a dead process'");
    start(() => undefined, {
      deadLetter: () => {
        if (++asked < 3) throw new Error('the disk is full');
      },
    });
    await isDead();
    expect(asked).toBe(3);
    expect(runs).toEqual([]);
  });
});
