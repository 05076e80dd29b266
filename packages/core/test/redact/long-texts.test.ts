import { describe, expect, it } from '@jest/globals';
import { describeError } from '../../src/redact/error-text.ts';
import { createRedactor } from '../../src/redact/redactor.ts';

/**
 * Milliseconds of CPU of the quickest of some runs: what others do on the machine is left out.
 * @param times how often a run does the work
 */
function cost(work: () => void, times: number): number {
  let least = Infinity;
  for (let run = 0; run < 5; run++) {
    const before = process.cpuUsage();
    for (let i = 0; i < times; i++) work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

const UNITS = {
  name: 'x',
  names: 'x ',
  apostrophe: "x'",
  at: '@',
  address: 'a@b.',
  dash: '-',
  dots: 'a.',
  digit: '1',
  digits: '1 ',
  numbers: '+1 (',
  space: ' ',
  percent: '%',
  url: 'x://',
  bearer: 'bearer ',
  token: 'eyJ-',
  password: 'token=',
  quoted: 'token="x ',
  'not closed': "token='x ",
  key: '-----BEGIN PRIVATE KEY-----',
};

// The growth is measured, not the time: eight times the text may cost eight times as much, with a
// generous margin, and not the 64 times of a pattern that starts anew at each letter.
describe.each(['standard', 'strict'] as const)("'%s'", (level) => {
  it.each(Object.entries(UNITS))(
    'a long run of one thing (%s) costs no more than its length',
    (_what, unit) => {
      const text = (length: number) => unit.repeat(length).slice(0, length);
      const growth = (make: (length: number) => () => void) =>
        cost(make(3_900), 4) / Math.max(cost(make(487), 4), 0.05);
      const redact = (of: string, content?: unknown) =>
        createRedactor(level, { body: content })(of);
      expect(growth((length) => () => void redact(text(length)))).toBeLessThan(24);
      expect(growth((length) => () => void redact('a note', { note: text(length) }))).toBeLessThan(
        24,
      );
    },
  );
});

it('a note of 100 KB without a separator costs no more than a short one', () => {
  const note = 'x'.repeat(100_000);
  const short = cost(() => void describeError(new Error('x'.repeat(3_900)), { body: { note } }), 1);
  const long = cost(() => void describeError(new Error(note), { body: { note } }), 1);
  expect(long).toBeLessThan(Math.max(short, 0.5) * 24);
  expect(describeError(new Error(note), { body: { note } })).toContain('[withheld');
});
