import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  type ErrorInfo,
  type HandlerContext,
  memoryStore,
  type ReceiverRequest,
  type Store,
} from '../../src/index.ts';
import { useLateClock } from '../late-clock.ts';
import { createTestReceiver, deferred, delivery, STARTED } from '../support.ts';
import { slow } from './slow-receiver.ts';

const never = (): Promise<never> => new Promise(() => undefined);

describe('close()', () => {
  it('releases a lease that the store grants after the grace, without running the handler', async () => {
    const inner = memoryStore();
    const [asked, go] = [deferred(), deferred()];
    const admit: Store['admit'] = async (claim) => {
      asked.resolve();
      await go.promise;
      return inner.admit(claim);
    };
    const handle = jest.fn();
    const on = { 'call:started': handle };
    const { receiver, send, outcomes } = createTestReceiver({ store: { ...inner, admit }, on });
    const sent = send(STARTED);
    await asked.promise;
    await receiver.close({ graceMs: 0 });
    go.resolve();
    expect(await sent).toBe('shutting-down');
    expect(outcomes[0]?.status).toBe(503);
    expect(handle).not.toHaveBeenCalled();
    expect(await createTestReceiver({ store: inner, on }).send(STARTED)).toBe('handled');
  });

  it('claims nothing for a payload whose schema was still running at the end of the grace', async () => {
    const [asked, checked] = [deferred(), deferred<{ value: unknown }>()];
    const validate = () => {
      asked.resolve();
      return checked.promise;
    };
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const;
    const store = memoryStore();
    const admit = jest.fn(store.admit);
    const handle = jest.fn();
    const custom = { schema, handle } as never;
    const { receiver, send } = createTestReceiver({ store: { ...store, admit }, custom });
    const sent = send({ custom: 1 });
    await asked.promise;
    await receiver.close({ graceMs: 0 });
    checked.resolve({ value: {} });
    expect(await sent).toBe('shutting-down');
    expect(admit).not.toHaveBeenCalled();
    expect(handle).not.toHaveBeenCalled();
  });

  it('waits for a handler that calls close() when it starts', async () => {
    const store = memoryStore();
    const [begun, done] = [deferred(), deferred()];
    let closed: Promise<void> | undefined;
    const first = createTestReceiver({
      store,
      on: {
        'call:started': async (_event: unknown, { signal }: { signal: AbortSignal }) => {
          closed = first.receiver.close({ graceMs: 10_000 });
          begun.resolve();
          await done.promise;
          signal.throwIfAborted();
        },
      },
    });
    const sent = first.send(STARTED);
    await begun.promise;
    const other = jest.fn();
    expect(await createTestReceiver({ store, on: { 'call:started': other } }).send(STARTED)).toBe(
      'in-progress',
    );
    done.resolve();
    expect(await sent).toBe('handled');
    await closed;
    expect(other).not.toHaveBeenCalled();
  });

  it('does not release a lease while its commit is under way', async () => {
    const store = memoryStore();
    const [committing, committed] = [deferred(), deferred()];
    const complete: Store['complete'] = async (key, token) => {
      committing.resolve();
      await committed.promise; // a release that is sent now would come first
      return store.complete(key, token);
    };
    const graceOver = deferred();
    const handle = jest.fn((_event: unknown, { signal }: { signal: AbortSignal }) =>
      signal.addEventListener('abort', () => graceOver.resolve()),
    );
    const on = { 'call:started': handle };
    const { receiver, send } = createTestReceiver({ store: { ...store, complete }, on });
    const sent = send(STARTED);
    await committing.promise;
    const closed = receiver.close({ graceMs: 0 });
    await graceOver.promise;
    committed.resolve();
    expect(await sent).toBe('handled');
    await closed;
    expect(await createTestReceiver({ store, on }).send(STARTED)).toBe('duplicate');
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('ends even if the store hangs', async () => {
    const [entered, work] = [deferred(), deferred()];
    const handle = () => {
      entered.resolve();
      return work.promise;
    };
    const { receiver, send } = createTestReceiver({
      store: { ...memoryStore(), release: never },
      storeTimeout: 20,
      on: { 'call:started': handle },
    });
    const sent = send(STARTED);
    await entered.promise;
    await expect(receiver.close({ graceMs: 0 })).resolves.toBeUndefined();
    work.resolve();
    await sent;
  });

  it('may be called again', async () => {
    const { receiver } = createTestReceiver();
    await Promise.all([receiver.close(), receiver.close()]);
    await expect(receiver.close()).resolves.toBeUndefined();
  });
});

describe('close() beside slow handlers and stores', () => {
  useLateClock();

  it('close() accepts no deliveries, and waits for the handlers', async () => {
    const { receiver, send, work } = slow();
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1);
    let closed = false;
    const closing = receiver.close().then(() => (closed = true));
    expect(await send({ ...STARTED, callId: 'other' })).toBe('shutting-down');
    await jest.advanceTimersByTimeAsync(5_000);
    expect(closed).toBe(false);
    work.resolve();
    expect(await sent).toBe('handled');
    await closing;
    expect(jest.getTimerCount()).toBeLessThanOrEqual(1); // the scheduler's own, which is unref'd
  });

  it.each([
    ['in order', [0, 1, 2]],
    ['in reverse', [2, 1, 0]],
  ])('close() waits for the last of several handlers, which end %s', async (_how, order) => {
    const works = [deferred(), deferred(), deferred()];
    const signals: AbortSignal[] = [];
    const { receiver, send } = createTestReceiver({
      on: {
        'call:started': ({ callId }: { callId: string }, { signal }: HandlerContext) => {
          signals.push(signal);
          return works[Number(callId)]?.promise;
        },
      },
    });
    const sent = works.map((_, at) => send({ ...STARTED, callId: String(at) }));
    await jest.advanceTimersByTimeAsync(1);
    const closed = jest.fn();
    const closing = receiver.close().then(closed);
    for (const at of order) {
      await jest.advanceTimersByTimeAsync(1_000);
      expect(closed).not.toHaveBeenCalled();
      works[at]?.resolve();
    }
    expect(await Promise.all(sent)).toEqual(['handled', 'handled', 'handled']);
    await closing;
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false]);
  });

  it('close() gives handlers 10 s if it is told nothing else', async () => {
    const { receiver, send, signals, work } = slow();
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1);
    const closing = receiver.close();
    await jest.advanceTimersByTimeAsync(9_999);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await jest.advanceTimersByTimeAsync(1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await closing;
    work.resolve();
    expect(await sent).toBe('shutting-down');
  });

  it('several calls of close() end with the last handler', async () => {
    const { receiver, send, work } = slow();
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1);
    const closed = [jest.fn(), jest.fn()];
    const closing = closed.map((onClosed) => receiver.close().then(onClosed));
    await jest.advanceTimersByTimeAsync(5_000);
    for (const onClosed of closed) expect(onClosed).not.toHaveBeenCalled();
    work.resolve();
    expect(await sent).toBe('handled');
    await jest.advanceTimersByTimeAsync(1);
    for (const onClosed of closed) expect(onClosed).toHaveBeenCalled();
    await Promise.all(closing);
  });

  it('close() refuses what the store has not admitted yet', async () => {
    const store = memoryStore();
    const admitted = deferred();
    const admit: typeof store.admit = async (claim) => {
      await admitted.promise;
      return store.admit(claim);
    };
    const { receiver, send, signals, outcomes } = slow({ store: { ...store, admit } });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1);
    const closing = receiver.close({ graceMs: 0 });
    await jest.advanceTimersByTimeAsync(1);
    await closing;
    admitted.resolve();
    expect(await sent).toBe('shutting-down');
    expect(outcomes[0]?.error?.message).toContain('closed before the handler had finished');
    expect(signals).toEqual([]);
  });

  it('close() aborts handlers after its grace period, and releases their leases', async () => {
    const store = memoryStore();
    const { receiver, send, signals, work, outcomes } = slow({ store });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1);
    const closing = receiver.close({ graceMs: 1_000 });
    await jest.advanceTimersByTimeAsync(1_000);
    await closing;
    expect(signals[0]?.reason).toMatchObject({
      code: 'shutting-down',
      message: expect.stringContaining('The receiver is closing.'),
    });
    const next = createTestReceiver({
      now: undefined,
      store,
      on: { 'call:started': () => undefined },
    });
    expect(await next.send(STARTED)).toBe('handled');
    expect(next.outcomes[0]?.attempt).toBe(2);
    work.resolve();
    expect(await sent).not.toBe('handled');
    expect(outcomes.at(-1)?.status).toBe(503);
  });
});

it.each(['before', 'after'])(
  'a handler that is late, and then has to stop, is told of its deadline: it reads its signal %s',
  async (when) => {
    const [go, ended] = [deferred(), deferred<unknown>()];
    const { receiver, send } = createTestReceiver({
      ackWithin: 1,
      on: {
        'call:started': async (_event: unknown, context: HandlerContext) => {
          const early = when === 'before' ? context.signal : undefined;
          await go.promise;
          ended.resolve((early ?? context.signal).reason);
        },
      },
    });
    expect(await send(STARTED)).toBe('deadline');
    await receiver.close({ graceMs: 0 });
    go.resolve();
    expect(await ended.promise).toMatchObject({ code: 'deadline' });
  },
);

const fail = () => {
  throw new Error('no');
};
const reject = (() => Promise.reject(new Error('no'))) as NonNullable<ReceiverRequest['waitUntil']>;

describe('waitUntil', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  it.each([
    ['throws', fail],
    ['rejects', reject],
  ])(
    'that %s does not change the response; the log and onError tell of it',
    async (_how, waitUntil) => {
      const signals: AbortSignal[] = [];
      const errors: [unknown, ErrorInfo][] = [];
      const { receiver, lines } = createTestReceiver({
        onError: (error, info) => void errors.push([error, info]),
        on: {
          'call:started': (_event: unknown, { signal }: { signal: AbortSignal }) => {
            signals.push(signal);
            return new Promise(() => undefined);
          },
        },
      });
      const answer = receiver.receive({ ...(await delivery(STARTED)), waitUntil });
      await jest.advanceTimersByTimeAsync(20_010);
      expect((await answer).outcome).toMatchObject({ outcome: 'deadline', status: 503 });
      expect(signals[0]?.aborted).toBe(true);
      expect(lines.join()).toContain('waitUntil failed: Error: no');
      const info = { code: 'deadline', source: 'hook', callId: 'call-1', lastAttempt: false };
      expect(errors).toMatchObject([[new Error('no'), info]]);
    },
  );

  it('is not called for a handler that the receiver gives up: another process may run its event', async () => {
    const { receiver, work, outcomes } = slow({ logger: { warn: fail, error: fail } });
    const waitUntil = jest.fn();
    const timestamp = Math.floor(Date.now() / 1_000);
    const answer = receiver.receive({ ...(await delivery(STARTED, { timestamp })), waitUntil });
    await jest.advanceTimersByTimeAsync(1);
    const closing = receiver.close({ graceMs: 1_000 });
    await jest.advanceTimersByTimeAsync(1_000);
    await closing;
    expect((await answer).outcome.outcome).toBe('shutting-down');
    work.resolve();
    await jest.advanceTimersByTimeAsync(30_000);
    expect(waitUntil).not.toHaveBeenCalled();
    expect(outcomes.map(({ outcome, late }) => [outcome, late])).toEqual([
      ['shutting-down', undefined],
      ['in-progress', true],
    ]);
  });
});
