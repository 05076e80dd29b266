import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore } from '../../src/index.ts';
import { createTestReceiver, deferred, SECRET, STARTED } from '../support.ts';

const never = () => new Promise<never>(() => undefined);
const enqueue = () => Promise.resolve();

describe('receiver.health()', () => {
  it('is ok, with and without a queue', async () => {
    const up = { status: 'up', durationMs: expect.any(Number) as unknown };
    expect(await createTestReceiver().receiver.health()).toEqual({
      ok: true,
      closing: false,
      store: up,
    });
    const ping = () => Promise.resolve('PONG');
    const { receiver } = createTestReceiver({ queue: { enqueue, ping } });
    expect(await receiver.health()).toEqual({ ok: true, closing: false, store: up, queue: up });
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
