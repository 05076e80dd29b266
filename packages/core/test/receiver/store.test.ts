import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore, type Store } from '../../src/index.ts';
import { createTestReceiver, STARTED } from '../support.ts';

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
