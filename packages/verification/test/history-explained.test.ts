import { expect, test } from '@jest/globals';
import { explained } from '../src/history/explain.ts';
import type { JournalEntry } from '../src/history/journal.ts';

// What a failed run prints, and writes to the file `violations`.

const EVENTS = 1_076;
const ATTEMPTS = 300;
const keyOf = (number: number) => `call-${String(number)}:call:completed`;
const attempts = (key: string): JournalEntry[] =>
  Array.from({ length: ATTEMPTS }, (_, n) => ({
    ...{ kind: 'delivery', at: n + 1, until: n + 2, key, status: 0, outcome: 'timeout' },
  }));

test('a thousand violations are explained in about 2,000 lines, which say how many are left out', async () => {
  const keys = Array.from({ length: EVENTS }, (_, number) => keyOf(number));
  const journal = keys.slice(0, 30).flatMap(attempts);
  const asked: string[] = [];
  const text = await explained(
    keys.map((key) => `${key} was never acknowledged (timeout)`),
    journal,
    (key) => {
      asked.push(key);
      return Promise.resolve(`  rows now: of ${key}`);
    },
  );
  const lines = text.split('\n');
  expect(lines.length).toBeLessThan(2_100);
  expect(lines.filter((line) => line.startsWith('VIOLATION  '))).toHaveLength(20);
  expect(asked).toEqual(keys.slice(0, 20));
  expect(lines.at(-1)).toBe('… 1056 more violations of 1076 are left out');
  // Of a long timeline, the end is shown: this is where the violation is.
  expect(lines[1]).toBe('    … 200 earlier lines are left out');
  expect(lines[101]).toContain('0.299–0.300  delivery');
});

test('a few violations are explained as a whole', async () => {
  const one = keyOf(1);
  const journal = attempts(one).slice(0, 2);
  const rows = () => Promise.resolve('  rows now: none');
  const text = await explained([`${one} was never acknowledged`, 'a worker ended'], journal, rows);
  expect(text.split('\n')).toEqual([
    `VIOLATION  ${one} was never acknowledged`,
    expect.stringContaining('0.000–0.001  delivery'),
    expect.stringContaining('0.001–0.002  delivery'),
    '  rows now: none',
    'VIOLATION  a worker ended',
  ]);
});
