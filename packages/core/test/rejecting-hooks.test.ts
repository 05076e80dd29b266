import { expect, it, jest } from '@jest/globals';
import { memoryStore } from '../src/index.ts';
import { startPollingWorker } from '../src/stores.ts';
import { deferred } from './support.ts';

/** What an asynchronous hook returns. Node ends the process if nobody handles it. */
function rejection() {
  const handled = jest.fn((_resolve: unknown, reject: (error: Error) => void) => {
    reject(new Error('metrics are down'));
  });
  return { promise: { then: handled } as never, handled };
}

it('onEvicted of a memory store may reject', async () => {
  const { promise, handled } = rejection();
  const store = memoryStore({ maxEntries: 1, onEvicted: () => promise });
  for (const webhookId of ['a', 'b'])
    await store.admit({
      webhookId,
      token: webhookId,
      key: undefined,
      leaseMs: 60_000,
      replayUntil: Date.now() + 300_000,
    });
  expect(handled).toHaveBeenCalledTimes(1);
});

it('onError of a polling worker may reject', async () => {
  const { promise, handled } = rejection();
  const failed = deferred();
  const worker = startPollingWorker({
    concurrency: 1,
    pollEvery: 60_000,
    take: () => Promise.reject(new Error('away')),
    onError() {
      failed.resolve();
      return promise;
    },
  });
  await failed.promise;
  await worker.close();
  expect(handled).toHaveBeenCalledTimes(1);
});
