import { expect, it } from '@jest/globals';
import { collectingLogger } from '../collecting-logger.ts';
import { unique } from '../unique.ts';
import { waitFor } from '../wait-for.ts';
import { queued, queuedCall } from './deliveries.ts';
import type { OpenQueue } from './under-test.ts';

/** Deliveries of several tenants in one queue. */
export function tenants(open: OpenQueue): void {
  it('runs the equal events of two tenants, each as its own', async () => {
    const { queue, startWorker, deadLetters } = await open({ maxAttempts: 1 });
    const [callId, webhookId] = [unique('call'), unique('webhook')];
    const runs: unknown[] = [];
    await startWorker({
      logger: collectingLogger(),
      onUnhandled: (_event, { tenant, key }) => void runs.push([tenant, key]),
      on: {
        'call:completed': (_event, { tenant, key }) => {
          runs.push([tenant, key]);
          if (tenant === 'b') throw new Error('down');
        },
      },
    });
    const keyOf = (tenant: string) => `tenant:${tenant}:${callId}:call:completed`;
    for (const tenant of ['a', 'b']) {
      await queue.enqueue(queuedCall(callId, { tenant, key: keyOf(tenant) }));
      // What has no key is known by its webhook id.
      await queue.enqueue(queued(Buffer.from('{}'), { tenant, webhookId }));
    }
    await waitFor(() => runs.length === 4);
    expect(runs).toHaveLength(4);
    for (const tenant of ['a', 'b']) {
      expect(runs).toContainEqual([tenant, keyOf(tenant)]);
      expect(runs).toContainEqual([tenant, undefined]);
    }
    await waitFor(async () => (await deadLetters()).length === 1);
    expect(await deadLetters()).toMatchObject([{ tenant: 'b', key: keyOf('b') }]);
  });
}
