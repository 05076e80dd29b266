import expect from '../../expect.cjs';
import { createReceiver, generateSecret, ready } from '@call-webhooks/core';
import { collectingLogger } from '../collecting-logger.ts';
import { whileRefused } from '../refusals.ts';
import { unique } from '../unique.ts';
import { queuedCall } from './deliveries.ts';
import type { QueueTestContext } from './under-test.ts';

/** A queue is ready while it would take a delivery, and its worker while it would run one. */
export function queueIsReady({ it, open, waitFor }: QueueTestContext): void {
  it('is not ready while it answers, but would refuse a delivery, and nor is its worker', async () => {
    const { queue, refusals, startWorker } = await open();
    const logger = collectingLogger();
    const receiver = createReceiver({ secret: generateSecret(), queue, logger });
    const status = async () => (await ready(receiver)()).status;
    const ran: unknown[] = [];
    const worker = await startWorker({
      on: { 'call:completed': ({ callId }) => void ran.push(callId) },
    });
    const workerStatus = async () => (await worker.health?.())?.ok ?? true;
    const enqueue = (call: string) => queue.enqueue(queuedCall(call));
    await enqueue(unique('call'));
    await waitFor(async () => ran.length === 1 && (await workerStatus()));
    expect(await status()).toBe(200);
    await whileRefused(refusals, async (name) => {
      const outcome = await enqueue(unique('call')).then(
        () => 'enqueued',
        () => 'refused',
      );
      const seen = [name, outcome, await status(), worker.health && (await workerStatus())];
      expect(seen).toEqual([name, 'refused', 503, worker.health && false]);
    });
    expect(await status()).toBe(200);
    const last = unique('call');
    await enqueue(last);
    await waitFor(async () => ran.includes(last) && (await workerStatus()));
    await receiver.close();
  });
}
