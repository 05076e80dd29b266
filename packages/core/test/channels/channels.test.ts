import diagnostics from 'node:diagnostics_channel';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { memoryStore, type QueuedDelivery, type SecretProvider } from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';
import type { OutcomeMessage } from '../../src/internal.ts';
import { StoreCalls } from '../../src/store/store-calls.ts';
import { Deadlines } from '../../src/time.ts';
import { useLateClock } from '../late-clock.ts';
import { createTestReceiver, deferred, NOW, SECONDS, STARTED } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

const NAMES = ['delivery', 'handler', 'store', 'enqueue'] as const;
const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
const undo: (() => void)[] = [];
useLateClock();

afterEach(() => {
  undo.splice(0).forEach((stop) => {
    stop();
  });
});

/**
 * Jest shares Node's channels between the test files of a worker, and a receiver of an earlier file may
 * still be running. Its messages are objects of another realm.
 */
const isOurs = (message: unknown) => message instanceof Object;

/** Subscribes to all channels, and collects what they publish. */
function listen() {
  const published: { name: string; event: string; message: Record<string, unknown> }[] = [];
  for (const name of NAMES) {
    const channel = diagnostics.tracingChannel(`call-webhooks:${name}`);
    const listener = (event: string) => (message: unknown) => {
      if (isOurs(message))
        published.push({ name, event, message: message as Record<string, unknown> });
    };
    const listeners = Object.fromEntries(EVENTS.map((event) => [event, listener(event)]));
    channel.subscribe(listeners as never);
    undo.push(() => {
      channel.unsubscribe(listeners as never);
    });
  }
  return published;
}

const steps = (published: ReturnType<typeof listen>) =>
  published.map(({ name, event }) => `${name} ${event}`).filter((step) => !step.includes(' end'));

describe('the tracing channels', () => {
  it('follow a delivery', async () => {
    const published = listen();
    const { send } = createTestReceiver({ on: { 'call:started': () => undefined } });
    expect(await send(STARTED)).toBe('handled');
    expect(steps(published).filter((step) => step.endsWith(' start'))).toEqual([
      'delivery start',
      'store start',
      'handler start',
      'store start',
    ]);
    const messages = published.filter(({ event }) => event === 'asyncEnd');
    expect(messages.map(({ name, message }) => [name, message])).toMatchObject([
      ['store', { operation: 'admit', result: { status: 'admitted', attempt: 1 } }],
      ['handler', { eventName: 'call:started', callId: 'call-1', attempt: 1, source: 'webhook' }],
      ['store', { operation: 'complete', result: true }],
      [
        'delivery',
        {
          source: 'webhook',
          method: 'POST',
          headers: expect.objectContaining({ 'x-service-timestamp': String(SECONDS) }) as unknown,
          result: { outcome: { outcome: 'handled' } },
        },
      ],
    ]);
  });

  it('name the tenant of a handler, if there is one', async () => {
    const published = listen();
    const on = { 'call:started': () => undefined };
    const secret: SecretProvider = ({ tenant }) => secretOf(tenant);
    await createTenantsReceiver({ secret, on }).send('acme', STARTED);
    await createTestReceiver({ on }).send(STARTED);
    const started = published.filter((one) => `${one.name} ${one.event}` === 'handler start');
    const [acme = {}, nobody = {}] = started.map(({ message }) => message);
    expect(acme).toMatchObject({ tenant: 'acme', key: 'tenant:acme:call-1:call:started' });
    expect(nobody).not.toHaveProperty('tenant');
  });

  it('follow what is delivered from this process, and a request without a method', async () => {
    const published = listen();
    const { receiver } = createTestReceiver();
    expect((await receiver.deliver(STARTED)).outcome).toBe('ignored');
    await receiver.deliver(STARTED, { source: 'reconcile' });
    await receiver.receive({ headers: {}, body: new Uint8Array() });
    const ended = published.filter((one) => `${one.name} ${one.event}` === 'delivery asyncEnd');
    expect(ended.map(({ message }) => message)).toMatchObject([
      { source: 'redrive', result: { outcome: { outcome: 'ignored' } } },
      { source: 'reconcile', result: { outcome: { outcome: 'ignored' } } },
      { source: 'webhook', method: 'POST' },
    ]);
  });

  it('name each call of the store, and what failed', async () => {
    const published = listen();
    const broken = { ...memoryStore(), reopen: () => Promise.reject(new Error('closed')) };
    const store = new StoreCalls(broken, new Deadlines(), 1_000);
    const claim = { webhookId: 'w', token: 't', key: 'k', leaseMs: 60_000, replayUntil: NOW };
    await store.admit(claim);
    await store.extend('k', 't', 60_000);
    await store.release('k', 't');
    await store.complete('k', 't');
    await expect(store.reopen('k')).rejects.toThrow('closed');
    const started = published.filter(({ event }) => event === 'start');
    expect(started.map(({ message }) => message['operation'])).toEqual([
      ...['admit', 'extend', 'release', 'complete', 'reopen'],
    ]);
    expect(published.filter(({ event }) => event === 'error')).toMatchObject([
      { name: 'store', message: { error: { code: 'store-unavailable' } } },
    ]);
  });

  it('publish errors in redacted form; the caller gets the original', async () => {
    const published = listen();
    const error = new Error('no number +49 30 1234567');
    const errors: unknown[] = [];
    const { send } = createTestReceiver({
      on: { 'call:started': () => Promise.reject(error) },
      onError: (thrown) => void errors.push(thrown),
    });
    await send(STARTED);
    expect(errors).toEqual([error]);
    const failed = published.filter(({ event }) => event === 'error');
    expect(failed).toMatchObject([
      { name: 'handler', message: { error: { code: 'handler-failed' } } },
    ]);
    expect(String(failed[0]?.message['error'])).not.toContain('1234567');
  });

  it('carry a trace context through the queue', async () => {
    const enqueued: QueuedDelivery[] = [];
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const channel = diagnostics.tracingChannel('call-webhooks:enqueue');
    const listeners = {
      start: (message: unknown) =>
        void ((message as { delivery: QueuedDelivery }).delivery.trace = { traceparent }),
    };
    channel.subscribe(listeners as never);
    undo.push(() => {
      channel.unsubscribe(listeners as never);
    });
    const enqueue = (delivery: QueuedDelivery) => {
      enqueued.push(delivery);
      return Promise.resolve();
    };
    const { send } = createTestReceiver({
      queue: { enqueue },
      on: { 'call:started': () => undefined },
    });
    expect(await send(STARTED)).toBe('queued');
    expect(enqueued).toMatchObject([{ trace: { traceparent } }]);

    const published = listen();
    const process = createJobProcessor({ on: { 'call:started': () => undefined } });
    await process(enqueued[0] as QueuedDelivery);
    expect(published[0]).toMatchObject({
      name: 'delivery',
      message: { source: 'queue', queued: { trace: { traceparent } } },
    });
  });

  it('follow a job of a worker to its outcome', async () => {
    const published = listen();
    const body = Buffer.from(JSON.stringify(STARTED)).toString('base64');
    const process = createJobProcessor({ on: { 'call:started': () => undefined } });
    await process({ webhookId: 'id-1', timestamp: SECONDS, receivedAt: NOW, body });
    expect(published.at(-1)).toMatchObject({
      name: 'delivery',
      event: 'asyncEnd',
      message: { result: { outcome: { outcome: 'handled', queued: true } } },
    });
  });

  it('tell of each outcome, also of a late one', async () => {
    const outcomes: unknown[] = [];
    const keep = (message: unknown) => {
      if (isOurs(message)) outcomes.push((message as OutcomeMessage).outcome);
    };
    diagnostics.subscribe('call-webhooks:outcome', keep);
    undo.push(() => void diagnostics.unsubscribe('call-webhooks:outcome', keep));
    const [started, handler, late] = [deferred(), deferred(), deferred()];
    const { send } = createTestReceiver({
      on: {
        'call:started': () => {
          started.resolve();
          return handler.promise;
        },
      },
      onOutcome: (outcome) => {
        if (outcome.late) late.resolve();
      },
    });
    const answer = send(STARTED);
    await started.promise;
    await jest.advanceTimersByTimeAsync(21_000);
    expect(await answer).toBe('deadline');
    handler.resolve();
    await late.promise;
    expect(outcomes).toMatchObject([
      { outcome: 'deadline', callId: 'call-1' },
      { outcome: 'handled', callId: 'call-1', late: true },
    ]);
  });
});
