import { expect, test } from '@jest/globals';
import { checkCalls } from '../src/one-at-a-time/check-calls.ts';
import type { CallEntry, RunEntry } from '../src/one-at-a-time/journal.ts';

// The check that scripts/one-at-a-time.ts runs, on handwritten journals.

const run = (kind: RunEntry['kind'], at: number, name = 'completed', pid = 1, attempt = 1) =>
  ({ kind, at, pid, callId: 'a', eventName: `call:${name}`, attempt }) satisfies CallEntry;
const kill = (at: number, pid = 1): CallEntry => ({ kind: 'kill', at, pid });
const RECORDING = 'recording-available';

/** One after the other. */
const fine = [
  ...[run('begin', 0), run('end', 5)],
  ...[run('begin', 5, RECORDING, 2), run('end', 9, RECORDING, 2)],
];

test('finds nothing in runs one after the other, of failures and killed processes as well', () => {
  expect(checkCalls(fine, 2).violations).toEqual([]);
  const killed = [run('begin', 0), kill(3), ...fine.slice(2)];
  const again = [run('begin', 20, 'completed', 3, 2), run('end', 21, 'completed', 3, 2)];
  const { violations, counts } = checkCalls([...killed, ...again], 2);
  expect(violations).toEqual([]);
  expect(counts).toMatchObject({ runs: 3, 'of them killed': 1, 'of them completed first': 1 });
  const failed = [run('begin', 0), run('failed', 4), ...fine.slice(2), ...again];
  expect(checkCalls(failed, 2).violations).toEqual([]);
});

test('another call may run at the same time', () => {
  const other = fine.map((entry) => ({ ...entry, callId: 'b' }));
  expect(checkCalls([...fine, ...other], 4).violations).toEqual([]);
});

test.each<[string, CallEntry[], string]>([
  [
    'a run that begins within another one, in whatever order it was written',
    [...fine, run('begin', 4, RECORDING, 3, 2), run('end', 5, RECORDING, 3, 2)],
    'a call:recording-available began 1.0 ms before the end of a call:completed',
  ],
  [
    'a run beside one that never ended',
    [run('begin', 0), ...fine.slice(2)],
    'a call:recording-available began Infinity ms before the end of a call:completed',
  ],
  [
    'a run that ends within a longer one, and one that begins after it',
    [
      ...[run('begin', 0), run('end', 9)],
      ...[run('begin', 1, RECORDING, 2), run('failed', 2, RECORDING, 2)],
      ...[run('begin', 8, RECORDING, 2, 2), run('end', 10, RECORDING, 2, 2)],
    ],
    'a call:recording-available began 1.0 ms before the end of a call:completed',
  ],
  [
    'a run beside one whose process was killed later',
    [run('begin', 0), kill(7), ...fine.slice(2)],
    'a call:recording-available began 2.0 ms before the end of a call:completed',
  ],
  ['an event that was not handled', fine.slice(0, 2), '1 of 2 events were handled'],
  [
    'an attempt number that comes twice',
    [...fine, run('begin', 20), run('end', 21)],
    'a call:completed: attempt 1 after 1',
  ],
])('finds %s', (_name, entries, violation) => {
  expect(checkCalls(entries, 2).violations).toContain(violation);
});
