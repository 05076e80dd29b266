import { describe, expect, it } from '@jest/globals';
import { memoryStore } from '../../src/index.ts';
import { createTestReceiver } from '../support.ts';

const never = () => new Promise<never>(() => undefined);
const enqueue = () => Promise.resolve();

describe('receiver.health()', () => {
  it('says that all is well, with and without a queue', async () => {
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

  it('asks nothing of ports without a ping, and calls them unknown', async () => {
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

  it('says which of them is down: it rejects, throws or hangs', async () => {
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

  it('is not ok while it closes', async () => {
    const { receiver } = createTestReceiver();
    await receiver.close();
    expect(await receiver.health()).toMatchObject({ ok: false, closing: true });
  });
});
