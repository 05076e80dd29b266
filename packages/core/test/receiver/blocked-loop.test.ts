import { expect, it } from '@jest/globals';
import { memoryStore } from '../../src/index.ts';
import { createTestReceiver, STARTED } from '../support.ts';

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
