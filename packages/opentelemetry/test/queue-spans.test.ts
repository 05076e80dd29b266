import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { QueuedDelivery } from '@call-webhooks/core';
import { createJobProcessor } from '@call-webhooks/core/stores';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { idOf, parentOf, receiverOf, startSdk, type Sdk } from './sdk.ts';

const STARTED = { eventName: 'call:started', callId: 'call-1' };

let sdk: Sdk;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(() => sdk.close());

describe('a queue', () => {
  it('links the span of the worker to that of the receiver', async () => {
    const jobs: QueuedDelivery[] = [];
    const enqueue = (delivery: QueuedDelivery) => {
      jobs.push(JSON.parse(JSON.stringify(delivery)) as QueuedDelivery);
      return Promise.resolve();
    };
    await receiverOf({ queue: { enqueue } }).send(STARTED);
    const sent = sdk.span('send call:started');
    expect(sent.kind).toBe(SpanKind.PRODUCER);
    expect(parentOf(sent)).toBe(idOf(sdk.span('receive call:started')));

    const tracer = sdk.tracerProvider.getTracer('pg');
    const work = createJobProcessor({
      around: sdk.telemetry.around,
      on: {
        'call:started': () => {
          tracer.startSpan('INSERT').end();
        },
      },
    });
    await work(jobs[0] as QueuedDelivery, { attempt: 2 });
    const processed = sdk.span('process call:started');
    expect(processed.kind).toBe(SpanKind.CONSUMER);
    expect(parentOf(processed)).toBeUndefined();
    expect(processed.spanContext().traceId).not.toBe(sent.spanContext().traceId);
    expect(processed.links.map((link) => link.context)).toMatchObject([
      { traceId: sent.spanContext().traceId, spanId: idOf(sent), isRemote: true },
    ]);
    expect(processed.attributes).toMatchObject({
      'messaging.operation.type': 'process',
      'call_webhooks.source': 'queue',
      'call_webhooks.outcome': 'handled',
      'call_webhooks.attempt': 2,
    });
    expect(processed.attributes).not.toHaveProperty('http.response.status_code');
    expect(parentOf(sdk.span('INSERT'))).toBe(idOf(sdk.span('handle call:started')));
    expect(parentOf(sdk.span('handle call:started'))).toBe(idOf(processed));
  });

  it('tells of a queue that refuses, and of a job that fails', async () => {
    const enqueue = () => Promise.reject(new Error('no room for +49 30 1234567'));
    await receiverOf({ queue: { enqueue } }).send(STARTED);
    const { attributes, status } = sdk.span('send call:started');
    expect(attributes['error.type']).toBe('store-unavailable');
    expect(status.message).toMatch(/did not accept the delivery: Error: no room/);
    expect(status.message).not.toContain('1234567');

    const body = Buffer.from(JSON.stringify(STARTED)).toString('base64');
    const work = createJobProcessor({
      logger: { warn: () => undefined, error: () => undefined },
      on: { 'call:started': () => Promise.reject(new Error('no')) },
    });
    await work({ webhookId: 'id-1', timestamp: 1, receivedAt: Date.now(), body }, { attempt: 3 });
    const processed = sdk.span('process call:started');
    expect(processed.links).toEqual([]);
    expect(processed.status.code).toBe(SpanStatusCode.ERROR);
    expect(processed.attributes).toMatchObject({
      'call_webhooks.outcome': 'dead-lettered',
      'call_webhooks.attempts_left': 0,
      'error.type': 'handler-failed',
    });
  });
});
