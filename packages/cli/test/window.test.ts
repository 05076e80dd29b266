import { expect, test } from '@jest/globals';
import { windowOf } from '../src/commands/reconcile.ts';

const NOW = Date.parse('2026-01-31T12:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ago = (ms: number) => new Date(NOW - ms);
const rememberFor = 24 * HOUR;

test('without --until, the window ends ten minutes ago', () => {
  const since = ago(10 * MINUTE + 1);
  expect(windowOf({ since, rememberFor }, NOW)).toEqual({ since, until: ago(10 * MINUTE) });
  expect(() => windowOf({ since: ago(10 * MINUTE), rememberFor }, NOW)).toThrow('before --until');
});

test('a window has to last, if only for a millisecond', () => {
  const until = ago(HOUR);
  const window = { since: ago(HOUR + 1), until };
  expect(windowOf({ ...window, rememberFor }, NOW)).toEqual(window);
  expect(() => windowOf({ since: until, until, rememberFor }, NOW)).toThrow('before --until');
});

test('it may begin as long ago as the store remembers, and a minute that passed meanwhile', () => {
  const until = ago(HOUR);
  const given = (since: Date) => () => windowOf({ since, until, rememberFor }, NOW);
  expect(given(ago(rememberFor + MINUTE))).not.toThrow();
  expect(given(ago(rememberFor + MINUTE + 1))).toThrow('remember handled events for 24 h');
});

test.each([
  ['full hours', 30 * HOUR, 30],
  ['full hours, and the time that parsing takes', 30 * HOUR + 999, 30],
  ['full hours and a second', 30 * HOUR + 1_001, 31],
  ['full hours and a minute', 30 * HOUR + MINUTE, 31],
  ['full hours and a minute, and the time that parsing takes', 30 * HOUR + MINUTE + 5, 31],
  ['an hour less a second', 31 * HOUR - 1_000, 31],
])('the --remember-for that is suggested still holds a while later: %s', (_what, asked, hours) => {
  const since = ago(asked);
  const given = { since, until: ago(HOUR) };
  expect(() => windowOf({ ...given, rememberFor }, NOW)).toThrow(
    expect.objectContaining({
      fix: expect.stringMatching(new RegExp(` --remember-for ${String(hours)}h\\.$`)),
    }),
  );
  const again = () => windowOf({ ...given, rememberFor: hours * HOUR }, NOW + 59_000);
  expect(again).not.toThrow();
});
