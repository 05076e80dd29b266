import diagnostics from 'node:diagnostics_channel';
import expect from '../../expect.cjs';
import type { HandlerContext, DeadLetter } from '@call-webhooks/core';
import type { DeliveryMessage } from '@call-webhooks/core/internal';
import fc from 'fast-check';
import { anyText } from '../any-text.ts';
import { difference } from '../bytes.ts';
import { collectingLogger } from '../collecting-logger.ts';
import { queued, queuedCall } from './deliveries.ts';
import { unique } from '../unique.ts';
import type { QueueTestContext } from './under-test.ts';

/** What goes in comes out: bytes and context. */
export function handOver({ it, open, waitFor }: QueueTestContext): void {
  it('runs the typed handler with the delivery as it was, and a context that says it was queued', async () => {
    const { queue, startWorker } = await open();
    const seen: [unknown, HandlerContext][] = [];
    const logger = collectingLogger();
    await startWorker({
      logger,
      on: { 'call:completed': (event, context) => void seen.push([event.callId, context]) },
    });
    const delivery = queuedCall(unique('call'));
    await queue.enqueue(delivery);
    await waitFor(() => seen.length > 0);
    const [callId, context] = seen[0]!;
    expect(`${String(callId)}:call:completed`).toBe(delivery.key);
    expect(context).toMatchObject({
      webhookId: delivery.webhookId,
      timestamp: new Date(delivery.timestamp * 1000),
      key: delivery.key,
      attempt: 1,
      queued: true,
      secretId: undefined,
    });
    expect(Buffer.from(context.rawBody).toString('base64')).toBe(delivery.body);
  });

  it('brings the trace context to the worker', async () => {
    const { queue, startWorker } = await open();
    const trace = { traceparent: `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`, tracestate: 'k=v' };
    const delivery = queuedCall(unique('call'), { trace });
    const seen: unknown[] = [];
    const onStart = (message: unknown) => {
      const { queued: job } = message as DeliveryMessage;
      if (job?.webhookId === delivery.webhookId) seen.push(job.trace);
    };
    diagnostics.subscribe('tracing:call-webhooks:delivery:start', onStart);
    try {
      await startWorker({
        on: {
          'call:completed': (_event, { attempt }) => {
            if (attempt === 1) throw new Error('the first attempt fails');
          },
        },
      });
      await queue.enqueue(delivery);
      await waitFor(() => seen.length === 2);
    } finally {
      diagnostics.unsubscribe('tracing:call-webhooks:delivery:start', onStart);
    }
    expect(seen).toEqual([trace, trace]);
  });

  it('keeps every byte, of large bodies and of bodies that are not text', async () => {
    const { queue, startWorker } = await open();
    const kept: DeadLetter[] = [];
    await startWorker({ deadLetter: (letter) => void kept.push(letter) });
    const bodies = [
      Uint8Array.from({ length: 256 }, (_, byte) => byte),
      new Uint8Array(0),
      new Uint8Array(1_000_000).fill(0xfe),
    ];
    const deliveries = bodies.map((body) => queued(body));
    await Promise.all(deliveries.map((delivery) => queue.enqueue(delivery)));
    await waitFor(() => kept.length === bodies.length);
    for (const [index, { webhookId }] of deliveries.entries()) {
      const letter = kept.find((one) => one.webhookId === webhookId)!;
      expect(difference(letter.rawBody, bodies[index]!)).toBe('none');
    }
  });

  it('keeps a delivery and an error message, whatever characters are in them', async () => {
    const { queue, startWorker } = await open();
    const odd = ['\0', '\ud800', 'a\udfffb', '\\u0000', '\\ud800', '"\u{1f4de}\u2028', '__proto__'];
    const texts = [...odd, ...fc.sample(anyText, { seed: 51, numRuns: 20 })];
    const calls = texts.map((text) => `${unique('call')}${text.slice(0, 60)}`);
    const runs: unknown[] = [];
    await startWorker({
      on: {
        'call:completed'({ callId }, { attempt, webhookId }) {
          if (attempt === 1) throw new Error(`no customer of ${String(callId)}`);
          runs.push([callId, webhookId]);
        },
      },
    });
    const deliveries = calls.map((callId) =>
      queuedCall(callId, { callId, webhookId: `${unique('webhook')} ${callId}` }),
    );
    for (const delivery of deliveries) await queue.enqueue(delivery);
    await waitFor(() => runs.length === calls.length);
    expect(new Map(runs as [string, string][])).toEqual(
      new Map(deliveries.map(({ webhookId }, at) => [calls[at], webhookId])),
    );
  });

  it('runs each delivery that has no key, and each of two tenants', async () => {
    const { queue, startWorker } = await open();
    const runs: unknown[] = [];
    const note = (_event: unknown, { tenant, key, webhookId }: HandlerContext) =>
      void runs.push(JSON.stringify({ tenant, key, webhookId }));
    await startWorker({ onUnhandled: note, on: { 'call:completed': note } });
    const [callId, webhookId] = [unique('call'), unique('webhook')];
    const ticket = () => queued(Buffer.from('{"ticket":1}'));
    const deliveries = [ticket(), ticket()];
    for (const tenant of ['a', 'b']) {
      const key = `tenant:${tenant}:${callId}:call:completed`;
      deliveries.push(queuedCall(callId, { tenant, key }));
      deliveries.push({ ...ticket(), tenant, webhookId }); // known by its webhook id
    }
    for (const delivery of deliveries) await queue.enqueue(delivery);
    await waitFor(() => runs.length === deliveries.length);
    const expected = deliveries.map(({ tenant, key, webhookId: id }) =>
      JSON.stringify({ tenant, key, webhookId: id }),
    );
    expect(runs.sort()).toEqual(expected.sort());
  });
}
