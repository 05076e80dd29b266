import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  memoryStore,
  type CallStartedEvent,
  type HandlerContext,
  type Logger,
} from '../../src/index.ts';
import { createTestReceiver, deferred, delivery, NOW, STARTED } from '../support.ts';

beforeEach(() => void jest.useFakeTimers({ now: NOW }));
afterEach(() => void jest.useRealTimers());

const storage = new AsyncLocalStorage<string>();
/** Notes in which context each callback of the user runs. */
function setup() {
  const seen: Record<string, (string | undefined)[]> = {};
  const note = (what: string) => void (seen[what] ??= []).push(storage.getStore());
  const inner = memoryStore();
  const gates = new Map<string, ReturnType<typeof deferred<void>>>();
  const log =
    (what: string): Logger['warn'] =>
    () =>
      note(what);
  const receiver = createTestReceiver({
    store: {
      ...inner,
      admit: (claim) => (note('admit'), inner.admit(claim)),
      extend: (key, token, ms) => (note('extend'), inner.extend(key, token, ms)),
      complete: (key, token, mark) => (note('complete'), inner.complete(key, token, mark)),
    },
    on: {
      'call:started': async ({ callId }: CallStartedEvent, { signal }: HandlerContext) => {
        signal.addEventListener('abort', () => note('abort'));
        const gate = deferred();
        gates.set(String(callId), gate);
        await gate.promise;
      },
    },
    ackWithin: 10_000,
    leaseFor: 15_000,
    logger: { warn: log('log'), error: log('log') },
    onOutcome: ({ outcome, late }) => note(late ? `late ${outcome}` : outcome),
    onError: () => note('onError'),
  }).receiver;
  return {
    seen,
    gates,
    /** A request in the context of its call. */
    send: async (callId: string) => {
      const request = await delivery({ ...STARTED, callId });
      return storage.run(callId, () => receiver.receive(request));
    },
  };
}

describe('what belongs to one delivery runs in the async context of its request', () => {
  it('although one timer serves them all', async () => {
    const { seen, gates, send } = setup();
    const responses = ['a', 'b', 'c'].map((callId) => send(callId));
    await jest.advanceTimersByTimeAsync(16_000);
    await Promise.all(responses);
    gates.get('a')?.resolve();
    gates.get('b')?.reject(new Error('down'));
    gates.get('c')?.resolve();
    await jest.advanceTimersByTimeAsync(1_000);
    const abc = ['a', 'b', 'c'];
    expect(seen['deadline']).toEqual(abc);
    expect(seen['abort']).toEqual(abc);
    expect([...new Set(seen['extend'])].sort()).toEqual(abc);
    expect(seen['admit']).toEqual(abc);
    expect(seen['complete']?.sort()).toEqual(['a', 'c']);
    expect(seen['late handled']?.sort()).toEqual(['a', 'c']);
    expect(seen['late handler-failed']).toEqual(['b']);
    expect(seen['onError']).toEqual(['b']);
    expect(seen['log']?.sort()).toEqual(['a', 'b', 'b', 'c']);
  });
});
