import expect from '../../expect.cjs';
import { createReceiver, generateSecret, ready } from '@call-webhooks/core';
import { collectingLogger } from '../collecting-logger.ts';
import { outcomeOf, pingOf, whileRefused } from '../refusals.ts';
import { unique } from '../unique.ts';
import { queuedCall } from './deliveries.ts';
import type { QueueTestContext } from './under-test.ts';

/** A queue is ready while it would take a delivery, and its worker while it would run one. */
export function queueIsReady({ it, open, waitFor }: QueueTestContext): void {
  it('is not ready while it still answers reads but would refuse a delivery, and neither is its worker', async () => {
    const { queue, refusals, startWorker } = await open();
    const logger = collectingLogger();
    const receiver = createReceiver({ secret: generateSecret(), queue, logger });
    const ran: unknown[] = [];
    const worker = await startWorker({
      on: { 'call:completed': ({ callId }) => void ran.push(callId) },
    });
    const workerIsWell = async () => (await worker.health?.())?.ok ?? true;
    const enqueue = (call: string) => queue.enqueue(queuedCall(call));
    const found = async (when: string, call: string) => ({
      when,
      enqueue: await outcomeOf(enqueue(call)),
      ready: (await ready(receiver)()).status,
      ping: pingOf((await receiver.health()).queue),
    });
    const isWell = (when: string) => ({ when, enqueue: 'accepted', ready: 200, ping: 'resolves' });
    const before = 'before anything is refused';
    expect(await found(before, unique('call'))).toEqual(isWell(before));
    await waitFor(async () => ran.length === 1 && (await workerIsWell()));
    await whileRefused(refusals, async (name) => {
      const during = `during ${name}`;
      const refused = expect.stringMatching(/^rejects: /);
      const isDown = { when: during, enqueue: refused, ready: 503, ping: refused };
      expect(await found(during, unique('call'))).toEqual(isDown);
      if (worker.health) expect(await worker.health()).toMatchObject({ ok: false });
    });
    const last = unique('call');
    const after = 'as soon as nothing is refused any more (is there a circuit breaker?)';
    expect(await found(after, last)).toEqual(isWell(after));
    await waitFor(async () => ran.includes(last) && (await workerIsWell()));
    await receiver.close();
  });
}
