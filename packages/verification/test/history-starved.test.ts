import { expect, test } from '@jest/globals';
import { checkHistory } from '../src/history/check/check.ts';
import type { DeliveryEntry, JournalEntry } from '../src/history/journal.ts';

// When a run on a busy machine proves nothing, and when it still finds a bug.

const delivery = (call: string, until: number, status = 0, outcome = 'timeout'): DeliveryEntry => ({
  ...{ kind: 'delivery', at: until - 50, until, status, outcome },
  key: `${call}:call:completed`,
});
const handled = ['begin', 'effect'].map(
  (kind, at) => ({ kind, at, pid: 1, key: 'call-0:call:completed', attempt: 1 }) as JournalEntry,
);
/** One event was acknowledged at 10, and one never in the 90 seconds after it. */
const never = [...handled, delivery('call-0', 10, 200), delivery('call-1', 90_000)];

/** One control operation in each second. @param took milliseconds; quiet machines need about 20 */
const controls = (took: number, share?: number, from = 0): JournalEntry[] =>
  Array.from({ length: 90 }, (_, second) => {
    const at = from + 1_000 + second * 1_000;
    return { kind: 'control', at, until: at + took, share };
  });
const [SLOW, QUICK] = [500, 25];
const check = (entries: JournalEntry[]) => checkHistory(entries, { queued: false });
const violation = 'call-1:call:completed was never acknowledged (timeout)';

test('a run on a machine that is busy with other work is inconclusive, and says what was measured', () => {
  const { violations, inconclusive } = check([...never, ...controls(SLOW, 0.12)]);
  expect(violations).toEqual([]);
  expect(inconclusive).toContain('1 of 2 events were never acknowledged');
  expect(inconclusive).toContain('took 500 ms (median of 90)');
  expect(inconclusive).toContain('used only 12 % of the CPU time');
});

test('a run in which everything was acknowledged is conclusive, however busy the machine was', () => {
  const { violations, inconclusive } = check([...never.slice(0, 3), ...controls(SLOW, 0.12)]);
  expect({ violations, inconclusive }).toEqual({ violations: [], inconclusive: undefined });
});

test.each<[string, JournalEntry[]]>([
  ['the machine was quick meanwhile', controls(QUICK, 0.05)],
  ['the run itself used the CPU', controls(SLOW, 0.9)],
  ['it is not known who used the CPU', controls(SLOW)],
  ['the machine was slow only before the last acknowledgement', controls(SLOW, 0.12, -100_000)],
  ['the machine was slow only for a few seconds', controls(SLOW, 0.12).slice(0, 10)],
  [
    'the machine was slow for a third of the time',
    [...controls(SLOW, 0.12).slice(0, 30), ...controls(QUICK, 0.12).slice(30)],
  ],
  ['nobody measured', []],
])('an event that was never acknowledged is a violation if %s', (_name, measured) => {
  expect(check([...never, ...measured])).toMatchObject({ violations: [violation] });
});

test.each<[string, DeliveryEntry]>([
  ['refused', delivery('call-1', 50_000, 401, 'invalid-signature')],
  ['answered with an error', delivery('call-1', 50_000, 500, 'handler-failed')],
  ['not sent, since its rule was paused', { ...delivery('call-1', 0), outcome: 'dropped' }],
])('on a starved machine, an event is a violation if it was %s', (_name, other) => {
  const { violations, inconclusive } = check([...never, other, ...controls(SLOW, 0.12)]);
  expect(violations).toEqual([expect.stringMatching(/^call-1:call:completed was never ack/)]);
  expect(inconclusive).toBeUndefined();
});

test('a starved machine hides no loss and no second effect', () => {
  const lost = delivery('call-2', 5, 200, 'handled');
  const again = handled.map((entry) => ({ ...entry, at: entry.at + 100, attempt: 2 }));
  const entries = [...never, lost, ...again, ...controls(SLOW, 0.12)] as JournalEntry[];
  const { violations, inconclusive } = check(entries);
  expect(violations).toEqual([
    'call-2:call:completed was acknowledged (handled) and has no effect',
    'call-0:call:completed: attempts 1 and 2 both had their effect, and no fault explains it',
  ]);
  expect(inconclusive).toContain('1 of 3 events');
});
