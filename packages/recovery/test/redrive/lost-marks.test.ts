import { describe, expect, it } from '@jest/globals';
import { memoryStore, type Store } from '@call-webhooks/core';
import { redrive } from '../../src/index.ts';
import { setup, fill } from './support.ts';

/** A store that does what `complete()` asks, and loses so many of its answers. */
function losing(count: number): Store {
  const store = memoryStore();
  const { complete } = store;
  let left = count;
  store.complete = async (...given) => {
    const answer = await complete(...given);
    if (left-- > 0) throw new Error('connection reset');
    return answer;
  };
  return store;
}

describe('an event whose mark is written, while the answer of the store is lost', () => {
  it.each([
    ['handled', true],
    ['dead-lettered', false],
  ] as const)('is %s, whatever a redrive cannot know of it', async (state, works) => {
    const store = losing(1);
    const { receiver, deadLetters, runs } = setup({ store, works: () => works });
    const [letter] = await fill(deadLetters, 1);
    const result = await redrive({ receiver, deadLetters });
    expect(result).toMatchObject({ handled: works ? 1 : 0, failed: works ? 0 : 1, unknown: 0 });
    expect(runs).toEqual([letter!.key]);
    expect(await store.peek?.([letter!.key!])).toEqual([state]);
    expect(await deadLetters.count()).toBe(works ? 0 : 1);
    await receiver.close();
  });

  it.each([
    ['handled', true],
    ['dead-lettered', false],
  ] as const)('is %s for reconcile() as well', async (outcome, works) => {
    const { receiver } = setup({ store: losing(1), maxAttempts: 1, works: () => works });
    const event = { eventName: 'call:completed', callId: 'c1' };
    expect(await receiver.deliver(event, { source: 'reconcile' })).toMatchObject({ outcome });
    await receiver.close();
  });
});
