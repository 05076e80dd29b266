import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { deferred, waitFor } from '@call-webhooks/contract-tests';
import type { QueuedDelivery } from '@call-webhooks/core';
import { createJobProcessor } from '@call-webhooks/core/stores';
import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { idOf, parentOf, receiverOf, type Sdk, SECRET, slowHandler, startSdk } from './sdk.ts';

describe('receivers', () => {
  const STARTED = { eventName: 'call:started', callId: 'call-1' };

  let sdk: Sdk;
  beforeEach(() => {
    sdk = startSdk();
  });
  afterEach(() => sdk.close());

  describe('the spans of a receiver', () => {
    it('are one for the delivery, and children for store and handler', async () => {
      const { send } = receiverOf({ on: { 'call:started': () => undefined } });
      await send(STARTED);
      const delivery = sdk.span('receive call:started');
      expect(parentOf(delivery)).toBeUndefined();
      expect(delivery.kind).toBe(SpanKind.SERVER);
      expect(delivery.attributes).toEqual({
        'messaging.system': 'call_webhooks',
        'messaging.operation.name': 'receive',
        'messaging.operation.type': 'receive',
        'messaging.message.id': expect.stringMatching(/^[\da-f-]{36}$/),
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        'call_webhooks.source': 'webhook',
        'call_webhooks.event': 'call:started',
        'call_webhooks.call_id': 'call-1',
        'call_webhooks.key': 'call-1:call:started',
        'call_webhooks.attempt': 1,
        'call_webhooks.outcome': 'handled',
        'call_webhooks.lag_ms': expect.any(Number),
        'call_webhooks.secret_id': expect.stringMatching(/^secret-[0-9a-f]{8}$/),
      });
      expect(delivery.status.code).toBe(SpanStatusCode.UNSET);
      const children = sdk.spans().filter((span) => span !== delivery);
      expect(children.map(({ name, attributes }) => [name, attributes])).toMatchObject([
        ['store admit', { 'call_webhooks.store.status': 'admitted' }],
        ['handle call:started', { 'call_webhooks.call_id': 'call-1', 'call_webhooks.attempt': 1 }],
        ['store complete', { 'call_webhooks.store.status': 'held' }],
      ]);
      for (const child of children) expect(parentOf(child)).toBe(idOf(delivery));
    });

    it('name the tenant', async () => {
      const { send } = receiverOf({
        tenant: () => 'acme',
        secret: () => SECRET,
        on: { 'call:started': () => undefined },
      });
      await send(STARTED);
      for (const name of ['receive call:started', 'handle call:started'])
        expect(sdk.span(name).attributes).toMatchObject({ 'call_webhooks.tenant': 'acme' });
    });

    it('are children of the span of the HTTP server', async () => {
      const { send } = receiverOf({});
      const server = sdk.tracerProvider.getTracer('http').startSpan('POST /hook');
      await context.with(trace.setSpan(ROOT_CONTEXT, server), () => send(STARTED));
      const delivery = sdk.span('receive call:started');
      expect(parentOf(delivery)).toBe(server.spanContext().spanId);
      expect(delivery.kind).toBe(SpanKind.INTERNAL);
    });

    it('have the redacted error of a handler, and not the original', async () => {
      const { send } = receiverOf({
        on: {
          'call:started': () => {
            throw new RangeError('no answer at +49 30 1234567 for ada@example.com', {
              cause: new Error('Ada Lovelace hung up'),
            });
          },
        },
      });
      expect(await send({ ...STARTED, calledName: 'Ada Lovelace' })).toBe('handler-failed');
      const handler = sdk.span('handle call:started');
      expect(handler.status.code).toBe(SpanStatusCode.ERROR);
      expect(handler.status.message).toMatch(/^The handler failed: RangeError: no answer/);
      expect(handler.attributes['error.type']).toBe('handler-failed');
      const { attributes: exception = {} } = handler.events[0]!;
      expect(exception['exception.type']).toBe('RangeError');
      expect(exception['exception.message']).toMatch(/^no answer at /);
      expect(exception['exception.stacktrace']).toMatch(
        /^RangeError: no answer[^]*spans\.test\.ts[^]*\ncaused by: Error: [^]*spans\.test\.ts/,
      );
      const delivery = sdk.span('receive call:started');
      expect(delivery.status).toEqual(handler.status);
      expect(delivery.attributes).toMatchObject({
        'error.type': 'handler-failed',
        'http.response.status_code': 500,
      });
      const everything = JSON.stringify(
        sdk
          .spans()
          .map(({ name, attributes, status, events }) => [name, attributes, status, events]),
      );
      for (const personal of ['1234567', 'ada@', 'Ada', 'Lovelace'])
        expect(everything).not.toContain(personal);
    });

    it('tell what is not authentic, as an answer that is no error of the server', async () => {
      const { receiver } = receiverOf({});
      const method = 'ada@example.com';
      await receiver.receive({ method, headers: {}, body: new Uint8Array() });
      await receiver.receive({ method: 'POST', headers: {}, body: new Uint8Array() });
      expect(sdk.spans().map(({ attributes, status }) => [attributes, status])).toEqual([
        [
          expect.objectContaining({
            'http.request.method': '_OTHER',
            'http.response.status_code': 405,
            'call_webhooks.outcome': 'method-not-allowed',
            'error.type': 'method-not-allowed',
          }),
          { code: SpanStatusCode.UNSET },
        ],
        [
          expect.objectContaining({ 'call_webhooks.outcome': 'missing-header' }),
          { code: SpanStatusCode.UNSET },
        ],
      ]);
    });

    it('of a handler ends when the handler does, after the deadline', async () => {
      const { on, go, missDeadline } = slowHandler();
      const late = deferred();
      const { send } = receiverOf({
        on,
        onOutcome: (outcome) => {
          if (outcome.late) late.resolve();
        },
      });
      expect(await missDeadline(() => send(STARTED))).toBe('deadline');
      const delivery = sdk.span('receive call:started');
      expect(delivery.attributes['call_webhooks.outcome']).toBe('deadline');
      expect(sdk.spans().map(({ name }) => name)).not.toContain('handle call:started');
      go.resolve();
      await late.promise;
      expect(parentOf(sdk.span('handle call:started'))).toBe(idOf(delivery));
      expect(parentOf(sdk.span('store complete'))).toBe(idOf(delivery));
    });
  });

  describe('the span of receiver.deliver()', () => {
    it('is named after its source, and no request', async () => {
      const { receiver } = receiverOf({ on: { 'call:started': () => undefined } });
      await receiver.deliver(STARTED, { source: 'reconcile' });
      const span = sdk.span('reconcile call:started');
      expect(span.kind).toBe(SpanKind.INTERNAL);
      expect(span.attributes).toMatchObject({
        'messaging.operation.name': 'reconcile',
        'messaging.operation.type': 'process',
        'call_webhooks.source': 'reconcile',
        'call_webhooks.outcome': 'handled',
      });
      expect(Object.keys(span.attributes).join()).not.toContain('http.');
      expect(parentOf(sdk.span('handle call:started'))).toBe(idOf(span));
    });
  });

  describe('around', () => {
    it('makes the handler span the parent of spans in the handler', async () => {
      const tracer = sdk.tracerProvider.getTracer('pg');
      const { send } = receiverOf({
        around: sdk.telemetry.around,
        on: {
          'call:started': async () => {
            await Promise.resolve();
            tracer.startSpan('SELECT').end();
          },
        },
      });
      await send(STARTED);
      expect(parentOf(sdk.span('SELECT'))).toBe(idOf(sdk.span('handle call:started')));
    });

    it('keeps what an outer layer put into the context', async () => {
      const key = Symbol('tenant');
      const seen: unknown[] = [];
      const { send } = receiverOf({
        around: [
          (run) => context.with(context.active().setValue(key, 'space-1'), run),
          sdk.telemetry.around,
        ],
        on: { 'call:started': () => void seen.push(context.active().getValue(key)) },
      });
      await send(STARTED);
      expect(seen).toEqual(['space-1']);
    });

    it('runs the handler where nothing is instrumented', async () => {
      sdk.telemetry.close();
      const { send } = receiverOf({
        around: sdk.telemetry.around,
        on: { 'call:started': () => undefined },
      });
      expect(await send(STARTED)).toBe('handled');
      expect(sdk.spans()).toEqual([]);
    });
  });
});

describe('a queue', () => {
  const STARTED = { eventName: 'call:started', callId: 'call-1' };

  let sdk: Sdk;
  beforeEach(() => {
    sdk = startSdk();
  });
  afterEach(() => sdk.close());

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

  it.each([
    [undefined],
    [{}],
    [{ traceparent: 'x' }],
    [{ traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` }],
    [{ traceparent: 3 }],
    ['text'],
    [null],
  ])('links nothing to a trace context like %p', async (carrier) => {
    const work = createJobProcessor({ on: { 'call:started': () => undefined } });
    const body = Buffer.from(JSON.stringify(STARTED)).toString('base64');
    const job = { webhookId: 'id-1', timestamp: 1, receivedAt: Date.now(), body };
    await work({ ...job, trace: carrier as never });
    expect(sdk.span('process call:started').links).toEqual([]);
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
      maxRuns: 3,
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

describe('leases', () => {
  let sdk: Sdk;
  afterEach(() => sdk.close());

  it('the span of each renewal of a lease is in the span of its own delivery', async () => {
    sdk = startSdk();
    const go = deferred();
    // All deliveries share one timer, which runs in the context of whoever set it.
    const { send } = receiverOf({ leaseFor: 900, on: { 'call:started': () => go.promise } });
    const key = 'call_webhooks.key';
    const calls = ['renewed-1', 'renewed-2', 'renewed-3'];
    const sent = calls.map((callId) => send({ eventName: 'call:started', callId }));
    const renewals = () => sdk.spans().filter((span) => span.name === 'store extend');
    await waitFor(() => renewals().length >= 6);
    go.resolve();
    await Promise.all(sent);
    const deliveries = sdk.spans().filter(({ name }) => name === 'receive call:started');
    const parents = renewals().map((span) => [
      span.attributes[key],
      deliveries.find((delivery) => idOf(delivery) === parentOf(span))?.attributes[key],
    ]);
    expect(parents.filter(([own, parent]) => own !== parent)).toEqual([]);
  });

  it('so is that of the newest 2,000 leases, however many handlers never end', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    sdk = startSdk();
    let running = 0;
    const go = deferred();
    const { send } = receiverOf({
      maxInFlight: 3_000,
      ackWithin: 25_000,
      leaseFor: 30_000,
      on: {
        'call:started': () => {
          running++;
          return go.promise;
        },
      },
    });
    const sent = Array.from({ length: 2_003 }, (_, at) =>
      send({ eventName: 'call:started', callId: `call-${String(at)}` }),
    );
    while (running < sent.length) await new Promise((resolve) => setImmediate(resolve));
    sdk.resetSpans();
    await jest.advanceTimersByTimeAsync(10_000);
    const renewals = sdk.spans().filter(({ name }) => name === 'store extend');
    expect(renewals).toHaveLength(sent.length);
    const orphans = renewals.filter((span) => parentOf(span) === undefined);
    expect(orphans.map(({ attributes }) => attributes['call_webhooks.key']).sort()).toEqual(
      [0, 1, 2].map((at) => `call-${String(at)}:call:started`),
    );
    go.resolve();
    await Promise.all(sent);
  });
});
