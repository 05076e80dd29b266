import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { createTestReceiver, deferred, NOW, STARTED } from '../support.ts';

beforeEach(() => void jest.useFakeTimers({ now: NOW }));
afterEach(() => void jest.useRealTimers());

it('the lease is renewed while a slow deadLetter takes the event', async () => {
  const sink = deferred();
  const deadLetter = jest.fn(() => sink.promise);
  const { send } = createTestReceiver({
    now: undefined,
    ackWithin: 1_000,
    maxAttempts: 1,
    deadLetter,
    on: {
      'call:started': () => {
        throw new Error('no');
      },
    },
  });
  const sent = send(STARTED);
  await jest.advanceTimersByTimeAsync(200_000);
  expect(await sent).toBe('deadline');
  expect(await send(STARTED)).toBe('in-progress');
  sink.resolve();
  await jest.advanceTimersByTimeAsync(1);
  expect(await send(STARTED)).toBe('in-dead-letters');
  expect(deadLetter).toHaveBeenCalledTimes(1);
});
