import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore, type Store } from '../../src/index.ts';
import { useLateClock } from '../late-clock.ts';
import {
  createTestReceiver,
  deferred,
  OTHER_SECRET,
  OTHER_SECRET_ID,
  SECRET,
  SECRET_ID,
  STARTED,
} from '../support.ts';
import { slow } from './slow-receiver.ts';

const fail = () => {
  throw new Error('no');
};

describe('a store that is down', () => {
  it.each<[string, Store['admit']]>([
    ['rejects', () => Promise.reject(new Error('redis://user:hunter2@host is away'))],
    ['throws', fail],
  ])('and %s: nothing runs, 503', async (_how, admit) => {
    const handle = jest.fn();
    const { send, lines } = createTestReceiver({
      store: { ...memoryStore(), admit },
      on: { 'call:started': handle },
    });
    expect(await send(STARTED)).toBe('store-unavailable');
    expect(handle).not.toHaveBeenCalled();
    expect(lines.join()).not.toContain('hunter2');
  });

  it('fails at the commit: 503, and the lease expires', async () => {
    const { send } = createTestReceiver({
      store: { ...memoryStore(), complete: () => Promise.reject(new Error('x')) },
      on: { 'call:started': () => undefined },
    });
    expect(await send(STARTED)).toBe('store-unavailable');
    expect(await send(STARTED)).toBe('in-progress');
  });

  it('fails at the commit after the lease was lost: 503 in-progress', async () => {
    const { send } = createTestReceiver({
      store: { ...memoryStore(), complete: () => Promise.resolve(false) },
      on: { 'call:started': () => undefined },
    });
    expect(await send(STARTED)).toBe('in-progress');
  });

  it('fails at the release: still 500', async () => {
    const { send } = createTestReceiver({
      store: { ...memoryStore(), release: () => Promise.reject(new Error('x')) },
      on: { 'call:started': fail },
    });
    expect(await send(STARTED)).toBe('handler-failed');
  });
});

// hostile-hooks.test.ts has the answers that no store may give.
it.each<[status: string, outcome: string, runs: number]>([
  ['admitted', 'handled', 1],
  ['duplicate', 'duplicate', 0],
  ['dead-lettered', 'in-dead-letters', 0],
  ['in-progress', 'in-progress', 0],
  ['replayed', 'replayed', 0],
])('a store that answers %s to a claim makes it %s', async (status, outcome, runs) => {
  const handle = jest.fn();
  const release = jest.fn(() => Promise.resolve(true));
  const answer = { status, ...(status === 'admitted' && { attempt: 1 }) };
  const store: Store = {
    ...{ ...memoryStore(), release },
    admit: () => Promise.resolve(answer as never),
    complete: () => Promise.resolve(true),
  };
  const { send } = createTestReceiver({ store, on: { 'call:started': handle } });
  expect(await send(STARTED)).toBe(outcome);
  expect(handle).toHaveBeenCalledTimes(runs);
  await new Promise(setImmediate);
  expect(release).not.toHaveBeenCalled();
});

describe('a slow store or queue', () => {
  useLateClock();

  it('at the deadline, a store that has not answered yet is no reason to fail', async () => {
    const { send } = slow({
      ackWithin: 500,
      store: { ...memoryStore(), admit: () => new Promise(() => undefined) },
    });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(510);
    expect(await sent).toBe('deadline');
    await jest.advanceTimersByTimeAsync(1_000);
  });

  it('the time of the handler and that of the store are told apart', async () => {
    const store = memoryStore();
    const later = async <Result>(result: Result) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return result;
    };
    const { send, outcomes, work } = slow({
      store: {
        ...store,
        admit: async (claim: Parameters<typeof store.admit>[0]) => later(await store.admit(claim)),
        complete: async (...args: Parameters<typeof store.complete>) =>
          later(await store.complete(...args)),
      },
    });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1_100);
    work.resolve();
    await jest.advanceTimersByTimeAsync(100);
    expect(await sent).toBe('handled');
    expect(outcomes[0]).toMatchObject({ handlerMs: 1_000, storeMs: 200, durationMs: 1_200 });
  });

  it('a lease that is lost aborts the handler', async () => {
    const store = { ...memoryStore(), extend: () => Promise.resolve(false) };
    const { send, signals } = slow({ store, leaseFor: 30_000 });
    void send(STARTED);
    await jest.advanceTimersByTimeAsync(10_010);
    expect(signals[0]?.reason).toMatchObject({ code: 'in-progress' });
  });

  it('a store that hangs means 503 in less than 2 s', async () => {
    const { send } = slow({
      store: { ...memoryStore(), admit: () => new Promise(() => undefined) },
    });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1_010);
    expect(await sent).toBe('store-unavailable');
  });

  it('a queue that hangs means 503', async () => {
    const { send } = slow({ queue: { enqueue: () => new Promise(() => undefined) } });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1_010);
    expect(await sent).toBe('store-unavailable');
  });
});

it('a claim whose answer came in time is not released because the process was busy', async () => {
  const inner = memoryStore();
  const calls: string[] = [];
  const { send } = createTestReceiver({
    storeTimeout: 5,
    store: {
      ...inner,
      async admit(claim) {
        const answer = await inner.admit(claim);
        const until = performance.now() + 20; // the answer is there, but nobody could look
        while (performance.now() < until);
        return answer;
      },
      release: (key, token) => (calls.push('release'), inner.release(key, token)),
    },
    on: { 'call:started': () => void calls.push('handled') },
  });
  expect(await send(STARTED)).toBe('handled');
  expect(calls).toEqual(['handled']);
});

const never = () => new Promise<never>(() => undefined);
const enqueue = () => Promise.resolve();

describe('receiver.health()', () => {
  it('is ok, with and without a queue', async () => {
    const up = { status: 'up', durationMs: expect.any(Number) as unknown };
    expect(await createTestReceiver().receiver.health()).toEqual({
      ok: true,
      closing: false,
      store: up,
      secretIds: [SECRET_ID],
    });
    const ping = () => Promise.resolve('PONG');
    const { receiver } = createTestReceiver({ queue: { enqueue, ping } });
    expect(await receiver.health()).toEqual({
      ...{ ok: true, closing: false, store: up, queue: up },
      secretIds: [SECRET_ID],
    });
  });

  it('measures how long each of them took', async () => {
    jest.useFakeTimers();
    jest.advanceTimersByTime(1_000); // so that no time is 0
    try {
      const ping = () => new Promise((resolve) => setTimeout(resolve, 10));
      const { receiver } = createTestReceiver({ queue: { enqueue, ping } });
      const health = receiver.health();
      await jest.advanceTimersByTimeAsync(10);
      expect(await health).toMatchObject({ store: { durationMs: 0 }, queue: { durationMs: 10 } });
    } finally {
      jest.useRealTimers();
    }
  });

  it('reports stores and queues without ping as unknown', async () => {
    const { ping: _ping, ...store } = memoryStore();
    const { receiver } = createTestReceiver({ store, queue: { enqueue } });
    const unknown = { status: 'unknown', durationMs: 0 };
    expect(await receiver.health()).toEqual({
      ok: true,
      closing: false,
      store: unknown,
      queue: unknown,
      secretIds: [SECRET_ID],
    });
  });

  it('reports which of them rejects, throws or hangs', async () => {
    const refused = Promise.reject(new Error('connect ECONNREFUSED'));
    const broken = () => {
      throw new Error('no connection');
    };
    const down = (error: string) => ({
      status: 'down',
      error: expect.stringContaining(error) as unknown,
    });
    for (const [ping, error] of [
      [() => refused, 'ECONNREFUSED'],
      [broken, 'no connection'],
      [never, 'No answer within 30 ms'],
    ] as const) {
      const options = { storeTimeout: 30, queue: { enqueue, ping } };
      expect(await createTestReceiver(options).receiver.health()).toMatchObject({
        ok: false,
        store: { status: 'up' },
        queue: down(error),
      });
      const store = { ...memoryStore(), ping };
      expect(await createTestReceiver({ storeTimeout: 30, store }).receiver.health()).toMatchObject(
        {
          ok: false,
          store: down(error),
        },
      );
    }
  });

  it('names the configured secrets, never their values', async () => {
    const secret = [{ id: 'old', secret: SECRET }, OTHER_SECRET];
    const { receiver } = createTestReceiver({ secret });
    expect((await receiver.health()).secretIds).toEqual(['old', OTHER_SECRET_ID]);
    const provided = createTestReceiver({ secret: () => secret }).receiver;
    expect((await provided.health()).secretIds).toEqual(['old', OTHER_SECRET_ID]);
  });

  it('is not ok while a secret provider fails', async () => {
    jest.useFakeTimers();
    let answer = (): string => {
      throw new Error('no access');
    };
    const asked: string[] = [];
    const { receiver, send } = createTestReceiver({
      secret: ({ webhookId }) => {
        asked.push(webhookId);
        return answer();
      },
    });
    expect(await send(STARTED, { webhookId: 'w-1' })).toBe('secret-unavailable');
    expect(await receiver.health()).toMatchObject({
      ok: false,
      store: { status: 'up' },
      secrets: { status: 'down', error: expect.stringContaining('no access') as unknown },
    });
    answer = () => SECRET;
    jest.advanceTimersByTime(1_001); // a provider that failed is left alone for a second
    expect(await receiver.health()).toMatchObject({ ok: true, secrets: { status: 'up' } });
    expect(asked).toEqual(['w-1', 'health-check']);
    jest.useRealTimers();
    expect(await send(STARTED)).toBe('ignored');
  });

  it('is not ok while the receiver is full', async () => {
    const done = deferred();
    const on = { 'call:started': () => done.promise };
    const { receiver, send } = createTestReceiver({ maxInFlight: 1, on });
    const sent = send(STARTED);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await send({ ...STARTED, callId: 'other' })).toBe('overloaded');
    expect(await receiver.health()).toMatchObject({ ok: false, overloaded: true });
    done.resolve();
    await sent;
    const health = await receiver.health();
    expect(health).toMatchObject({ ok: true });
    expect(health).not.toHaveProperty('overloaded');
  });

  it('is not ok while the receiver closes', async () => {
    const { receiver } = createTestReceiver();
    await receiver.close();
    expect(await receiver.health()).toMatchObject({ ok: false, closing: true });
  });
});
