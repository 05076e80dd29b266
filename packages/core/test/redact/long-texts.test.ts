import { describe, expect, it } from '@jest/globals';
import { describeError } from '../../src/report/error-text.ts';
import { createRedactor } from '../../src/report/redact.ts';

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

// A pattern that starts anew at each letter would take minutes.
describe.each(['standard', 'strict'] as const)("'%s'", (level) => {
  it.each(Object.entries(UNITS))('ends with a long run of one thing: %s', (_what, unit) => {
    const text = unit.repeat(200_000).slice(0, 200_000);
    const redact = createRedactor(level, { body: { note: text.slice(0, 15_000) } });
    expect(redact(text).length).toBeLessThan(20_000);
    expect(redact('a note').length).toBeLessThan(20_000);
  });
});

it('ends with a note of 100 KB without a separator', () => {
  const note = 'x'.repeat(100_000);
  expect(describeError(new Error(note), { body: { note } })).toContain('[withheld');
});
