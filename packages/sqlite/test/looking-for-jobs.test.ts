import { describe, expect, it, jest } from '@jest/globals';
import { queuedCall, waitFor } from '@call-webhooks/contract-tests';
import { useQueue } from './use-queue.ts';

describe('a worker that looks for jobs', () => {
  const { test, work } = useQueue();

  it('runs a job that this process adds or retries without waiting for the next look', async () => {
    let broken = true;
    const worker = work(
      () => {
        if (broken) throw new Error('no');
      },
      { pollEvery: 3_600_000, maxRuns: 1 },
    );
    await worker.stats(); // the first look is over
    await test.queue.enqueue(queuedCall('call-1'));
    await waitFor(async () => (await worker.stats()).dead === 1);
    broken = false;
    const [job] = await test.queue.deadLetters();
    await test.queue.retryDead(job!.id);
    await waitFor(async () => (await worker.stats()).done === 1);
  });

  it('logs one line for each outage of the file', async () => {
    const exec = jest.spyOn(test.db, 'exec');
    const looks = () => exec.mock.calls.filter(([sql]) => sql === 'BEGIN IMMEDIATE').length;
    await test.queue.ping(); // creates the table
    for (let outages = 1; outages <= 2; outages++) {
      test.db.exec('ALTER TABLE call_webhooks_jobs RENAME TO elsewhere');
      if (outages === 1) work(() => undefined);
      const before = looks();
      await waitFor(() => looks() > before + 5);
      test.db.exec('ALTER TABLE elsewhere RENAME TO call_webhooks_jobs');
      await test.queue.enqueue(queuedCall('call-1', { key: `event ${String(outages)}` }));
      await waitFor(() => test.runs.length === outages);
      const failures = test.logger.entries.filter(({ level }) => level === 'error');
      expect(failures).toHaveLength(outages);
      expect(failures.at(-1)).toMatchObject({
        message: expect.stringMatching(/^call-webhooks: the SQLite queue fails: .*no such table/),
        fields: {
          err: { message: expect.stringContaining('no such table') },
          docs: expect.stringContaining('queues.html#sqlite'),
        },
      });
    }
  });
});
