import { expect, it } from '@jest/globals';
import { createReceiver, memoryDeadLetters } from '@call-webhooks/core';
import { deliver, TEST_SECRET } from '@call-webhooks/testing';

const withoutKey = { eventName: 'call:completed' };

/** A receiver whose handler always fails, and its dead letters. */
function failing(maxAttempts?: number) {
  const deadLetter = memoryDeadLetters();
  const receiver = createReceiver({
    secret: TEST_SECRET,
    deadLetter,
    maxAttempts,
    logger: { warn: () => undefined, error: () => undefined },
    on: {
      'call:completed': () => {
        throw new Error('The event has no callId.');
      },
    },
  });
  return { receiver, deadLetter };
}

it('the failures of an event without a key are not counted, so it never becomes a dead letter', async () => {
  const { receiver, deadLetter } = failing();
  for (let delivery = 1; delivery <= 12; delivery++)
    expect((await deliver(receiver, withoutKey)).outcome).toBe('handler-failed');
  expect(await deadLetter.count()).toBe(0);
});

it('with maxAttempts 1, an event without a key becomes a dead letter at its first failure', async () => {
  const { receiver, deadLetter } = failing(1);
  expect((await deliver(receiver, withoutKey)).outcome).toBe('dead-lettered');
  expect(await deadLetter.count()).toBe(1);
});
