import expect from '../../expect.cjs';
import { ready, type WorkerHealth } from '@call-webhooks/core';
import { deferred } from '../deferred.ts';
import { unique } from '../unique.ts';
import { queuedCall } from './deliveries.ts';
import type { QueueTestContext, StartedWorker } from './under-test.ts';

/** A worker says whether it would run a job. */
export function workerHealth({ it, open, waitFor }: QueueTestContext): void {
  it('says that a worker is well, what it runs, and when it ran a job last', async () => {
    const { queue, startWorker } = await open();
    const [started, go] = [deferred(), deferred()];
    const worker = await startWorker({
      on: {
        'call:completed': async () => {
          started.resolve();
          await go.promise;
        },
      },
    });
    await waitFor(async () => (await health(worker)).lastContactAt !== undefined);
    const idle = await health(worker);
    expect(idle).toMatchObject({ ok: true, closing: false, running: 0, queue: { status: 'up' } });
    expect(idle.lastJobAt).toBeUndefined();

    await queue.enqueue(queuedCall(unique('call')));
    await started.promise;
    expect(await health(worker)).toMatchObject({ ok: true, running: 1 });
    const endedAfter = Date.now();
    go.resolve();
    await waitFor(async () => (await health(worker)).lastJobAt !== undefined);
    const { running, lastJobAt, lastContactAt } = await health(worker);
    expect(running).toBe(0);
    expect(lastJobAt!.getTime()).toBeGreaterThanOrEqual(endedAfter);
    expect(lastContactAt!.getTime()).toBeGreaterThanOrEqual(idle.lastContactAt!.getTime());
  });

  it('is ready until it is closed', async () => {
    const { startWorker } = await open();
    const worker = await startWorker({});
    const probe = ready({ health: () => health(worker) });
    const asked = async () => {
      const response = await probe();
      return [response.status, await response.json()];
    };
    await waitFor(async () => (await health(worker)).ok);
    expect(await asked()).toEqual([200, { ok: true, closing: false, queue: 'up' }]);
    const closed = worker.close();
    expect(await asked()).toMatchObject([503, { ok: false, closing: true }]);
    await closed;
    expect(await asked()).toMatchObject([503, { ok: false, closing: true }]);
  });
}

async function health(worker: StartedWorker): Promise<WorkerHealth> {
  expect(worker.health).toBeDefined();
  return worker.health!();
}
