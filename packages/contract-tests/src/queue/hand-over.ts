import diagnostics from 'node:diagnostics_channel';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../any-text.ts';
import type { HandlerContext, DeadLetter, DeliveryMessage } from '@call-webhooks/core';
import { collectingLogger } from '../collecting-logger.ts';
import { deferred } from '../deferred.ts';
import { waitFor } from '../wait-for.ts';
import { queued, queuedCall } from './deliveries.ts';
import { unique } from '../unique.ts';
import type { OpenQueue } from './under-test.ts';

/** What goes in comes out: bytes, context, once for each event. */
export function handOver(open: OpenQueue): void {
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

  it('keeps every byte, of large bodies and of bodies that are no text', async () => {
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
      expect(Buffer.compare(letter.rawBody, bodies[index]!)).toBe(0);
    }
  });

  it('runs an event once, however often it is put in: before, while and after it runs', async () => {
    const { queue, startWorker } = await open();
    const callId = unique('call');
    const runs: string[] = [];
    const started = deferred();
    const go = deferred();
    await queue.enqueue(queuedCall(callId));
    await queue.enqueue(queuedCall(callId));
    await startWorker({
      on: {
        'call:completed': async (event) => {
          runs.push(String(event.callId));
          started.resolve();
          await go.promise;
        },
      },
    });
    await started.promise;
    await queue.enqueue(queuedCall(callId));
    go.resolve();
    const second = unique('call'); // behind the first: once it is done, the first is
    await queue.enqueue(queuedCall(second));
    await waitFor(() => runs.includes(second));
    await queue.enqueue(queuedCall(callId));
    const third = unique('call');
    await queue.enqueue(queuedCall(third));
    await waitFor(() => runs.includes(third));
    expect(runs).toEqual([callId, second, third]);
  });

  it('takes keys of every kind, and keeps apart those that look alike', async () => {
    const { queue, startWorker } = await open();
    const digits = String(Date.now());
    const keys = [digits, `${digits}:`, `:${digits}`, ` ${digits}`, `${digits} `];
    keys.push('a:b:c', 'A:b:c', 'é', 'e\u0301', '{a}:b', "'; --", 'x'.repeat(4_000));
    const runs: string[] = [];
    await startWorker({
      on: { 'call:completed': (event) => void runs.push(String(event.callId)) },
    });
    for (const [index, key] of keys.entries()) {
      await queue.enqueue(queuedCall(`call-${String(index)}`, { key }));
      await queue.enqueue(queuedCall('a duplicate', { key }));
    }
    await waitFor(() => runs.length >= keys.length);
    expect(runs.sort()).toEqual(keys.map((_, index) => `call-${String(index)}`).sort());
  });

  it('runs each delivery that has no key', async () => {
    const { queue, startWorker } = await open();
    const webhookIds: string[] = [];
    await startWorker({
      onUnhandled: (_payload, context) => void webhookIds.push(context.webhookId),
    });
    const deliveries = Array.from({ length: 3 }, () => queued(Buffer.from('{"ticket":1}')));
    for (const delivery of deliveries) await queue.enqueue(delivery);
    await waitFor(() => webhookIds.length === 3);
    expect(webhookIds.sort()).toEqual(deliveries.map(({ webhookId }) => webhookId).sort());
  });

  it('runs each of 60 events once, put in three times at once each, with two workers', async () => {
    const { queue, startWorker } = await open();
    const runs: string[] = [];
    const on = {
      'call:completed': (event: { callId?: unknown }) => void runs.push(String(event.callId)),
    };
    await Promise.all([startWorker({ on }), startWorker({ on })]);
    const calls = Array.from({ length: 60 }, () => unique('call'));
    await Promise.all([...calls, ...calls, ...calls].map((id) => queue.enqueue(queuedCall(id))));
    await waitFor(() => new Set(runs).size === calls.length);
    const marker = unique('call');
    await queue.enqueue(queuedCall(marker));
    await waitFor(() => runs.includes(marker));
    expect(runs.sort()).toEqual([...calls, marker].sort());
  });

  it('takes keys and event names of any text, and keeps them apart', async () => {
    const { queue, startWorker } = await open({ concurrency: 10 });
    const runs: string[] = [];
    await startWorker({
      on: { 'call:completed': (event) => void runs.push(String(event.callId)) },
    });
    const odd = ['\ud800', '\udbff', '\udc00', '\ufffd', '\0', '\u2028', 'x'.repeat(4_000)];
    const texts = [...new Set([...odd, ...fc.sample(anyText, { numRuns: 30, seed: 1 })])];
    const start = unique('key');
    for (const [index, text] of texts.entries()) {
      const delivery = { key: `${start}${text}`, eventName: `call:${text}` };
      await queue.enqueue(queuedCall(`call-${String(index)}`, delivery));
      await queue.enqueue(queuedCall('a duplicate', delivery));
    }
    await waitFor(() => runs.length >= texts.length);
    expect(runs.sort()).toEqual(texts.map((_, index) => `call-${String(index)}`).sort());
  });
}
