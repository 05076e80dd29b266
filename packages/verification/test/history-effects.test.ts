import { expect, test } from '@jest/globals';
import { checkHistory } from '../src/history/check/check.ts';
import { usesCompleteIn } from '../src/history/effects.ts';
import type { JournalEntry } from '../src/history/journal.ts';
import { run } from './history-entries.ts';

test('finds two effects in the database, of events that use completeIn', () => {
  const seed = 'a seed';
  const keys = Array.from({ length: 20 }, (_, number) => `call-${String(number)}:call:completed`);
  const effectsOf = (attempts: number[]) =>
    keys.flatMap((one) => attempts.map((attempt) => ({ key: one, attempt, pid: 1, at: 10 })));
  const runs = [run('begin', 1), run('failed', 2), run('begin', 3, 1, 2), run('failed', 11, 1, 2)];
  const journal = keys.flatMap((one) =>
    runs.map((entry) => ({ ...entry, key: one }) as JournalEntry),
  );
  const twice = checkHistory(journal, { queued: false, effects: effectsOf([1, 2]), seed });
  const withCompleteIn = keys.filter((one) => usesCompleteIn(seed, one));
  expect(
    twice.violations.filter((text) => text.includes('was committed in attempts 1, 2')),
  ).toEqual(withCompleteIn.map((one) => `${one}: its effect was committed in attempts 1, 2`));
  expect(twice.counts).toMatchObject({
    '  duplicates of these': withCompleteIn.length,
    '  duplicates of those': keys.length - withCompleteIn.length,
  });
  expect(withCompleteIn.length).toBeGreaterThan(0);
  expect(withCompleteIn.length).toBeLessThan(keys.length);
  const once = checkHistory(journal, { queued: false, effects: effectsOf([2]), seed });
  expect(once.violations).toEqual([]);
});
