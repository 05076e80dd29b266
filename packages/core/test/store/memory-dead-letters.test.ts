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

it('refuses options that mean nothing', () => {
  expect(() => memoryDeadLetters({ maxLetters: 0 })).toThrow('maxLetters');
});
