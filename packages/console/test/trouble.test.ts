import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore, type Store } from '@call-webhooks/core';
import type { Tasks } from '../src/api-types.ts';
import { open } from './support.ts';

const TROUBLE = {
  throws: () => {
    throw new Error('not connected');
  },
  rejects: () => Promise.reject(new Error('connection refused')),
  hangs: () => new Promise<never>(() => undefined),
};

/** What a console asks a store for: by the method that is in trouble, the requests that need it. */
const NEEDED: [keyof Store, string, 'GET' | 'POST'][] = [
  ['loadCursor', '/api/tasks', 'GET'],
  ['admit', '/api/redrive', 'POST'],
  ['saveCursor', '/api/redrive', 'POST'],
  ['peek', '/api/calls/c1', 'GET'],
];

/** What a request is answered that waits for a timer. */
async function afterTimers<T>(asked: Promise<T>): Promise<T> {
  await jest.advanceTimersByTimeAsync(10);
  return asked;
}

describe.each(Object.keys(TROUBLE) as (keyof typeof TROUBLE)[])('a store that %s', (kind) => {
  it.each(NEEDED)('in %s() is answered 503 for %s within 5 seconds', async (method, path, verb) => {
    jest.useFakeTimers({ doNotFake: ['performance'] });
    try {
      const store = memoryStore() as Required<Store>;
      const { ask, send, logger } = open({ receiving: { store } });
      const { [method]: working } = store;
      Object.assign(store, { [method]: TROUBLE[kind] });
      const asked = verb === 'GET' ? ask(path) : send(path, { all: true });
      await jest.advanceTimersByTimeAsync(10_000);
      const response = await asked;
      expect([response.status, await response.text()]).toEqual([
        503,
        expect.stringContaining('"store-unavailable"'),
      ]);
      expect(logger.lines.join()).toContain('the store failed');
      // It has left nothing that keeps the next one from beginning.
      Object.assign(store, { [method]: working });
      expect((await afterTimers(send('/api/redrive', { all: true }))).status).toBe(200);
    } finally {
      jest.useRealTimers();
    }
  });

  it.each(['extend', 'saveCursor', 'loadCursor'] as const)(
    'in %s() for a moment ends no redrive, and leaves the next one free',
    async (method) => {
      jest.useFakeTimers({ doNotFake: ['performance', 'setImmediate', 'nextTick'] });
      try {
        const store = memoryStore() as Required<Store>;
        let release: () => void = () => undefined;
        const running = new Promise<void>((resolve) => (release = resolve));
        const { post, get, deadLetters } = open({
          receiving: { store, maxAttempts: 1, on: { 'call:completed': () => running } },
        });
        await deadLetters.put({
          ...{ reason: 'handler-failed', attempt: 1, source: 'webhook', error: '', errorText: '' },
          rawBody: new TextEncoder().encode('{"eventName":"call:completed","callId":"c1"}'),
          ...{ webhookId: 'w1', timestamp: new Date(), failedAt: new Date() },
        });
        await afterTimers(post<Tasks>('/api/redrive', { all: true }));
        const works = store[method] as (...given: unknown[]) => unknown;
        const own = (name: unknown) => String(name).startsWith('console/');
        Object.assign(store, {
          [method]: (...given: unknown[]) =>
            own(given[0]) ? TROUBLE[kind]() : works.apply(store, given),
        });
        await jest.advanceTimersByTimeAsync(6_000);
        Object.assign(store, { [method]: works });
        await jest.advanceTimersByTimeAsync(6_000);
        release();
        await jest.advanceTimersByTimeAsync(6_000);
        const { redrive } = await get<Tasks>('/api/tasks');
        expect(redrive).toMatchObject({ state: 'done', counts: { handled: 1 } });
        const next = await afterTimers(post<Tasks>('/api/redrive', { all: true }));
        expect(next.redrive).toMatchObject({ total: expect.anything() });
      } finally {
        jest.useRealTimers();
      }
    },
  );
});
