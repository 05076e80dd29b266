import { expect, it } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import { memoryDeadLetters } from '../../src/index.ts';

it('takes no more letters when it is full, but new failures of those it has', async () => {
  const deadLetters = memoryDeadLetters({ maxLetters: 2 });
  const first = deadLetter();
  await deadLetters.put(first);
  await deadLetters.put(deadLetter());
  await expect(deadLetters.put(deadLetter())).rejects.toThrow(
    'memoryDeadLetters is full: it has 2',
  );
  await deadLetters.put(first);
  const { letters } = await deadLetters.list();
  expect(letters.map(({ history }) => history.length).sort()).toEqual([1, 2]);
  expect(await deadLetters.remove(letters[0]!.id)).toBe(true);
  await deadLetters.put(deadLetter());
  expect(await deadLetters.count()).toBe(2);
});

it('keeps the last 50 failures of a letter', async () => {
  const deadLetters = memoryDeadLetters();
  const letter = deadLetter();
  for (let attempt = 1; attempt <= 51; attempt++) await deadLetters.put({ ...letter, attempt });
  const { letters } = await deadLetters.list();
  expect(letters[0]!.history.map(({ attempt }) => attempt)).toEqual(
    Array.from({ length: 50 }, (_, index) => index + 2),
  );
});

it('has a clock of its own', async () => {
  const deadLetters = memoryDeadLetters();
  await deadLetters.put(deadLetter());
  const { id } = (await deadLetters.list()).letters[0]!;
  expect(await deadLetters.claim(id, { token: 'a', leaseMs: 60_000 })).toBeDefined();
  expect(await deadLetters.claim(id, { token: 'b', leaseMs: 60_000 })).toBeUndefined();
});

it('ends a claim exactly when its time is over, and says when that is', async () => {
  let now = 0;
  const deadLetters = memoryDeadLetters({ now: () => now });
  await deadLetters.put(deadLetter());
  const { id } = (await deadLetters.list()).letters[0]!;
  const before = Date.now();
  const claimed = await deadLetters.claim(id, { token: 'a', leaseMs: 60_000 });
  expect(claimed!.claimedUntil!.getTime()).toBeGreaterThanOrEqual(before + 60_000);
  now = 60_000;
  expect(await deadLetters.extend(id, 'a', 1_000)).toBe(false);
  expect(await deadLetters.claim(id, { token: 'b', leaseMs: 1 })).toBeDefined();
});

it('refuses options that mean nothing', () => {
  expect(() => memoryDeadLetters({ maxLetters: 0 })).toThrow(
    /Invalid options of memoryDeadLetters.*maxLetters/,
  );
});
