import expect from '../../expect.cjs';
import { deferred } from '../deferred.ts';
import { queuedCall } from './deliveries.ts';
import { unique } from '../unique.ts';
import type { QueueTestContext } from './under-test.ts';

const pause = () => new Promise((resolve) => setTimeout(resolve, 100));

/** Workers come and go; the queue keeps. */
export function shutdown({ it, open, waitFor }: QueueTestContext): void {
  it('says that it answers', async () => {
    const { queue } = await open();
    expect(queue.ping).toBeDefined();
    await expect(queue.ping!()).resolves.not.toThrow();
  });

  it('closes a worker gracefully: the running job ends, nothing new begins, the rest waits for another', async () => {
    const { queue, startWorker } = await open({ concurrency: 1 });
    const started = deferred();
    const go = deferred();
    const runs: [string, string][] = [];
    const on = (worker: string) => ({
      'call:completed': async (event: { callId?: unknown }) => {
        started.resolve();
        await go.promise;
        runs.push([worker, String(event.callId)]);
      },
    });
    const calls = [unique('call'), unique('call')];
    for (const id of calls) await queue.enqueue(queuedCall(id));
    const first = await startWorker({ on: on('first') });
    await started.promise;
    let isClosed = false;
    const closed = first.close().then(() => {
      isClosed = true;
    });
    await pause();
    expect(isClosed).toBe(false); // its job still runs
    go.resolve();
    await closed;
    expect(runs).toEqual([['first', calls[0]]]);
    await pause();
    expect(runs).toEqual([['first', calls[0]]]); // the second job waits
    await startWorker({ on: on('second') });
    await waitFor(() => runs.length > 1);
    expect(runs).toEqual([
      ['first', calls[0]],
      ['second', calls[1]],
    ]);
  });
}
