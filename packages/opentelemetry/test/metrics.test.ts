import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import type { Outcome, ReceiverOptions } from '@call-webhooks/core';
import { createJobProcessor } from '@call-webhooks/core/stores';
import { instrument, type InstrumentOptions, type Telemetry } from '@call-webhooks/opentelemetry';
import { diag, metrics, trace } from '@opentelemetry/api';
import { openSdk, receiverOf, type Sdk, send, slowHandler, startSdk } from './sdk.ts';

describe('metrics', () => {
  const STARTED = { eventName: 'call:started', callId: 'call-1' };
  const fail = () => Promise.reject(new Error('no'));

  let sdk: Sdk;
  afterEach(() => sdk.close());

  function setup(
    options: Partial<ReceiverOptions<never, never>>,
    instrumented?: InstrumentOptions,
  ) {
    sdk = startSdk(instrumented);
    return receiverOf(options);
  }

  describe('the metrics', () => {
    it('count deliveries by outcome and event', async () => {
      const receiver = setup({ on: { 'call:started': () => undefined } });
      await receiver.send(STARTED);
      await receiver.send(STARTED);
      await receiver.receiver.receive({ headers: {}, body: new Uint8Array() });
      const points = await sdk.points('call_webhooks.deliveries');
      const all = points.filter(({ value }) => value > 0);
      const webhook = { 'call_webhooks.source': 'webhook' };
      expect(all).toEqual([
        {
          value: 1,
          attributes: {
            ...webhook,
            'call_webhooks.outcome': 'handled',
            'call_webhooks.result': 'acknowledged',
            'call_webhooks.event': 'call:started',
          },
        },
        {
          value: 1,
          attributes: {
            ...webhook,
            'call_webhooks.outcome': 'duplicate',
            'call_webhooks.result': 'acknowledged',
            'call_webhooks.event': 'call:started',
          },
        },
        {
          value: 1,
          attributes: {
            ...webhook,
            'call_webhooks.outcome': 'missing-header',
            'call_webhooks.result': 'rejected',
            'call_webhooks.event': 'none',
          },
        },
      ]);
    });

    it('measure handlers, their failures, and the lag', async () => {
      const { receiver } = setup({
        on: { 'call:started': () => undefined, 'call:completed': fail },
      });
      await send(receiver, STARTED, 100);
      await send(receiver, { eventName: 'call:completed', callId: 'call-2' }, 100);
      expect(await sdk.points('call_webhooks.handler.duration')).toMatchObject([
        { value: 1, attributes: { 'call_webhooks.event': 'call:started' } },
        {
          value: 1,
          attributes: { 'call_webhooks.event': 'call:completed', 'error.type': 'handler-failed' },
        },
      ]);
      expect(await sdk.total('call_webhooks.lag', { 'call_webhooks.source': 'webhook' })).toBe(2);
    });

    it('are in seconds, as their unit says', async () => {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
      const started = deferred();
      const { receiver } = setup({
        on: {
          'call:started': () =>
            new Promise((resolve) => {
              setTimeout(resolve, 2_500);
              started.resolve();
            }),
        },
      });
      const sent = send(receiver, STARTED, 100);
      await started.promise;
      await jest.advanceTimersByTimeAsync(2_500);
      expect(await sent).toBe('handled');
      const duration = await sdk.histogram('call_webhooks.handler.duration');
      expect(duration.unit).toBe('s');
      expect(duration.sum).toBeCloseTo(2.5);
      const lag = await sdk.histogram('call_webhooks.lag');
      expect(lag.unit).toBe('s');
      expect(lag.sum).toBeGreaterThanOrEqual(100);
      expect(lag.sum).toBeLessThan(102);
      // Up to a minute for handlers, which are aborted after 20 s, and up to a day for late deliveries.
      const ends = { 60: duration.boundaries, 86_400: lag.boundaries };
      for (const [end, boundaries] of Object.entries(ends)) {
        expect(boundaries.at(-1)).toBe(Number(end));
        expect([...boundaries].sort((one, other) => one - other)).toEqual(boundaries);
      }
    });

    it('count what is in flight', async () => {
      const go = deferred();
      const started = deferred();
      const { send: sendOne } = setup({
        on: {
          'call:started': () => {
            started.resolve();
            return go.promise;
          },
        },
      });
      const running = sendOne(STARTED);
      await started.promise;
      expect(await sdk.total('call_webhooks.in_flight')).toBe(1);
      go.resolve();
      await running;
      expect(await sdk.total('call_webhooks.in_flight')).toBe(0);
    });

    it('count a late delivery once, and its dead letter as well', async () => {
      const { on, go, missDeadline } = slowHandler();
      const late = deferred<Outcome>();
      const { send: sendOne } = setup({
        on,
        deadLetter: () => undefined,
        maxAttempts: 1,
        onOutcome: (outcome) => {
          if (outcome.late) late.resolve(outcome);
        },
      });
      await missDeadline(() => sendOne(STARTED));
      go.reject(new Error('no'));
      expect((await late.promise).outcome).toBe('dead-lettered');
      expect(await sdk.total('call_webhooks.deliveries')).toBe(1);
      expect(
        await sdk.total('call_webhooks.deliveries', { 'call_webhooks.outcome': 'deadline' }),
      ).toBe(1);
      expect(await sdk.total('call_webhooks.dead_letters')).toBe(1);
    });

    it('count dead letters of a worker, but not what the queue runs again', async () => {
      sdk = startSdk();
      const body = Buffer.from(JSON.stringify(STARTED)).toString('base64');
      const work = createJobProcessor({
        logger: { warn: () => undefined, error: () => undefined },
        on: { 'call:started': fail },
        maxRuns: 3,
      });
      const job = { webhookId: 'id-1', timestamp: 1, receivedAt: Date.now() - 90_000, body };
      for (const attempt of [1, 2, 3]) await work(job, { attempt });
      expect(await sdk.total('call_webhooks.dead_letters')).toBe(1);
      const queue = { 'call_webhooks.source': 'queue' };
      expect(await sdk.total('call_webhooks.deliveries', queue)).toBe(3);
      expect(await sdk.total('call_webhooks.lag', queue)).toBe(3);
    });

    it('tell a redriven event that fails again from a new dead letter', async () => {
      const deadLetter = () => undefined;
      const { receiver } = setup({ on: { 'call:started': fail }, deadLetter, maxAttempts: 1 });
      await receiver.deliver(STARTED);
      await receiver.deliver({ ...STARTED, callId: 'call-2' }, { source: 'reconcile' });
      for (const source of ['redrive', 'reconcile'])
        expect(
          await sdk.total('call_webhooks.dead_letters', { 'call_webhooks.source': source }),
        ).toBe(1);
      expect(await sdk.total('call_webhooks.in_flight')).toBe(0);
    });

    it('have the first 100 characters of a long name', async () => {
      const { send: sendOne } = setup({});
      for (const eventName of ['a'.repeat(100), `${'a'.repeat(100)}1`, 'b'.repeat(99)])
        await sendOne({ eventName, callId: 'c' });
      const points = await sdk.points('call_webhooks.deliveries');
      const counted = points.filter(({ value }) => value > 0);
      expect(
        counted.map(({ value, attributes }) => [attributes['call_webhooks.event'], value]),
      ).toEqual([
        ['a'.repeat(100), 2],
        ['b'.repeat(99), 1],
      ]);
    });

    it('have few names of events, however many there are', async () => {
      const { send: sendOne } = setup({});
      for (let index = 0; index < 25; index++)
        await sendOne({ eventName: `custom-${String(index)}`, callId: 'c' });
      const points = await sdk.points('call_webhooks.deliveries');
      const names = new Set(points.map(({ attributes }) => attributes['call_webhooks.event']));
      expect(names.size).toBe(22);
      for (const name of ['call:started', 'custom-0', 'other']) expect(names).toContain(name);
      expect(sdk.spans().map(({ name }) => name)).toContain('receive other');
    });

    it('stop when they are closed', async () => {
      const { send: sendOne } = setup({});
      sdk.telemetry.close();
      await sendOne(STARTED);
      expect(await sdk.total('call_webhooks.deliveries')).toBe(0);
    });

    it('ask no queue, no dead letters and no status once they are closed', async () => {
      const asked = jest.fn();
      const ask = (answer: unknown) => () => {
        asked();
        return Promise.resolve(answer);
      };
      sdk = startSdk({
        queues: { jobs: ask(3) },
        deadLetters: ask(7),
        status: ask({ attention: [], events: [] }),
      } as InstrumentOptions);
      await sdk.allPoints();
      expect(asked).toHaveBeenCalledTimes(3);
      sdk.telemetry.close();
      await sdk.allPoints();
      expect(asked).toHaveBeenCalledTimes(3);
    });
  });

  describe('the depth of queues', () => {
    it('is what the engines tell', async () => {
      sdk = startSdk({
        queues: {
          sqlite: () => Promise.resolve({ waiting: 3, dead: 1, oldest: '2026' }),
          pgboss: () => 5,
          broken: () => Promise.reject(new Error('down')),
        },
        deadLetters: () => Promise.resolve(7),
      });
      const points = await sdk.points('call_webhooks.queue.depth');
      expect(points.map(({ value, attributes }) => [...Object.values(attributes), value])).toEqual([
        ['sqlite', 'waiting', 3],
        ['sqlite', 'dead', 1],
        ['pgboss', 'waiting', 5],
      ]);
      expect(await sdk.total('call_webhooks.dead_letters.kept')).toBe(7);
    });

    it('is left out when an engine does not answer', async () => {
      sdk = startSdk({ queues: { redis: () => new Promise(() => undefined), other: () => 1 } });
      expect(await sdk.total('call_webhooks.queue.depth')).toBe(1);
    });
  });
});

const ignore = () => undefined;
const QUIET = { error: ignore, warn: ignore, info: ignore, debug: ignore, verbose: ignore };

describe('robustness', () => {
  let telemetry: Telemetry | undefined;
  afterEach(() => {
    telemetry?.close();
    diag.disable();
  });

  describe('instrument', () => {
    it('does nothing without an SDK', async () => {
      telemetry = instrument();
      const { send } = receiverOf({ around: telemetry.around, on: { 'call:started': () => 1 } });
      expect(await send({ eventName: 'call:started', callId: 'c' })).toBe('handled');
    });

    it('takes the SDK that is started after it, and counts nothing twice', async () => {
      const received = { eventName: 'call:started', callId: 'c' };
      telemetry = instrument({ deadLetters: () => 7 });
      const go = deferred();
      const started = deferred();
      const { receiver, send: sendOne } = receiverOf({
        around: telemetry.around,
        on: {
          'call:started': () => {
            started.resolve();
            return go.promise;
          },
        },
      });
      const running = sendOne(received);
      await started.promise;

      const sdk = openSdk();
      trace.setGlobalTracerProvider(sdk.tracerProvider);
      metrics.setGlobalMeterProvider(sdk.meterProvider);
      await receiver.receive({ headers: {}, body: new Uint8Array() });
      go.resolve();
      expect(await running).toBe('handled');
      expect(await sdk.total('call_webhooks.deliveries')).toBe(2);
      expect(await sdk.total('call_webhooks.in_flight')).toBe(0);
      expect(await sdk.total('call_webhooks.dead_letters.kept')).toBe(7);
      expect(sdk.spans().filter(({ name }) => name.startsWith('receive'))).toHaveLength(1);
      await sdk.close();
    });

    it('asks no queue for an SDK that another one has replaced', async () => {
      const [first, second] = [openSdk(), openSdk()];
      const asked = jest.fn(() => 7);
      metrics.setGlobalMeterProvider(first.meterProvider);
      telemetry = instrument({ queues: { calls: asked }, deadLetters: asked });
      expect(await first.total('call_webhooks.queue.depth')).toBe(7);
      expect(asked).toHaveBeenCalledTimes(2);
      metrics.disable();
      metrics.setGlobalMeterProvider(second.meterProvider);
      const { send: sendOne } = receiverOf({ around: telemetry.around });
      await sendOne({ eventName: 'call:started', callId: 'c' });
      await first.allPoints();
      expect(asked).toHaveBeenCalledTimes(2);
      expect(await second.total('call_webhooks.dead_letters.kept')).toBe(7);
      expect(asked).toHaveBeenCalledTimes(4);
      await Promise.all([first.close(), second.close()]);
    });

    it('covers the process once: a second call warns and changes nothing', async () => {
      const warn = jest.fn();
      diag.setLogger({ ...QUIET, warn });
      const sdk = startSdk();
      expect(warn).not.toHaveBeenCalled();
      const second = instrument({ meterProvider: sdk.meterProvider, deadLetters: () => 7 });
      expect(warn).toHaveBeenCalledWith(expect.stringContaining('instrument() was already called'));
      second.close();
      const { send: sendOne } = receiverOf({ around: second.around });
      await sendOne({ eventName: 'call:started', callId: 'c' });
      expect(await sdk.total('call_webhooks.deliveries')).toBe(1);
      expect(await sdk.total('call_webhooks.dead_letters.kept')).toBe(0);

      sdk.telemetry.close();
      telemetry = instrument({ meterProvider: sdk.meterProvider });
      sdk.telemetry.close(); // ends nothing but its own
      await sendOne({ eventName: 'call:started', callId: 'd' });
      expect(await sdk.total('call_webhooks.deliveries')).toBe(2);
      const copy: string = '../src/instrument.ts?copy'; // as the CommonJS and the ESM files are copies
      const { instrument: another } = (await import(copy)) as { instrument: typeof instrument };
      expect(another).not.toBe(instrument);
      another();
      expect(warn).toHaveBeenCalledTimes(2);
      await sdk.close();
    });

    const broken = (): never => {
      throw new Error('The SDK is broken');
    };
    it.each<[string, () => InstrumentOptions]>([
      ['spans', () => ({ tracerProvider: { getTracer: () => ({ startSpan: broken }) } as never })],
      [
        'metrics',
        () => {
          let fails = false; // only once all is instrumented
          setImmediate(() => (fails = true));
          const add = () => fails && broken();
          const create = () => ({ add, record: add, addCallback: () => undefined });
          const meter = { createCounter: create, createUpDownCounter: create };
          const whole = { ...meter, createHistogram: create, createObservableGauge: create };
          return { meterProvider: { getMeter: () => whole } as never };
        },
      ],
    ])('changes no outcome when the SDK throws at %s, and says so', async (_what, options) => {
      const errors = jest.fn();
      diag.setLogger({ ...QUIET, error: errors });
      telemetry = instrument(options());
      await new Promise(setImmediate);
      const { send } = receiverOf({ around: telemetry.around, on: { 'call:started': () => 1 } });
      expect(await send({ eventName: 'call:started', callId: 'c' })).toBe('handled');
      expect(errors).toHaveBeenCalledWith(
        '@call-webhooks/opentelemetry failed:',
        new Error('The SDK is broken'),
      );
    });

    it.each([
      [{ status: {} }, /status: expected a function/],
      [{ queues: { calls: 3 } }, /queues.calls: expected a function/],
      [{ tracerProvider: {} }, /tracerProvider: expected an object with getTracer/],
      [{ retries: 3 }, /instrument.*retries/],
    ])('refuses %p', (options, message) => {
      expect(() => instrument(options as never)).toThrow(message);
    });
  });
});
