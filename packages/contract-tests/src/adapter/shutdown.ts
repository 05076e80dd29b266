import { describe, expect, it } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import { deferred } from '@call-webhooks/store-tests/internal';
import { callBody } from '@call-webhooks/store-tests/internal';
import type { AdapterTestContext } from './under-test.ts';

const GRACE_MS = 50;
/** Far below `ackWithin` and all timeouts of servers, for a busy machine; milliseconds. */
const AT_MOST_MS = 10_000;

/** What closing promises, whatever a handler does. */
export function shutdown({ start }: AdapterTestContext): void {
  describe('shutting down', () => {
    it('waits for a running handler, whose delivery is handled', async () => {
      const [entered, go] = [deferred(), deferred()];
      const { sender, shutDown } = await start(
        {
          on: {
            'call:completed': async () => {
              entered.resolve();
              await go.promise;
            },
          },
        },
        AT_MOST_MS,
      );
      const reply = sender.post(callBody('c1'));
      await entered.promise;
      const closed = shutDown(AT_MOST_MS);
      go.resolve();
      expect(await reply).toEqual({ status: 200, outcome: 'handled' });
      await closed;
    });

    it('does not wait for a handler that hangs: it is told to stop, and its event is free', async () => {
      const [entered, never] = [deferred(), deferred()];
      const signals: AbortSignal[] = [];
      const store = memoryStore();
      const { sender, shutDown } = await start(
        {
          store,
          on: {
            'call:completed': async (_event, { signal }) => {
              signals.push(signal);
              entered.resolve();
              await never.promise;
            },
          },
        },
        GRACE_MS,
      );
      const reply = sender.post(callBody('c1'));
      await entered.promise;
      expect(signals[0]?.aborted).toBe(false);
      const startedAt = performance.now();
      await shutDown(GRACE_MS);
      const tookMs = performance.now() - startedAt;
      expect(signals[0]?.aborted).toBe(true);
      const claim = {
        webhookId: 'w2',
        replayUntil: Date.now() + 1_000,
        leaseMs: 1_000,
        token: 't2',
      };
      const admitted = await store.admit({ ...claim, key: 'c1:call:completed' });
      expect(admitted).toEqual({ status: 'admitted', attempt: 2 });
      expect(tookMs).toBeGreaterThanOrEqual(GRACE_MS - 1);
      expect(tookMs).toBeLessThan(AT_MOST_MS);
      expect(await reply).toEqual({ status: 503, outcome: 'shutting-down' });
      never.resolve();
    });
  });
}
