import { describe, expect, test } from '@jest/globals';
import {
  ago,
  counted,
  day,
  duration,
  moment,
  shortTime,
  span,
  timeOfDay,
  zoneOf,
} from '../src/format.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.each([
  [0.4, '< 1 ms'],
  [1, '1 ms'],
  [999, '999 ms'],
  [1_000, '1.0 s'],
  [9_940, '9.9 s'],
  [10_000, '10 s'],
  [59_999, '60 s'],
  [MINUTE, '1 min'],
  [59 * MINUTE, '59 min'],
  [HOUR, '1 h'],
  [47 * HOUR, '47 h'],
  [48 * HOUR, '2 d'],
  [30 * DAY, '30 d'],
])('%d ms took %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test.each([
  [0, '0s'],
  [-5_000, '0s'],
  [499, '0s'],
  [5_000, '5s'],
  [MINUTE, '1m'],
  [4 * MINUTE + 52 * SECOND, '4m 52s'],
  [HOUR + 5 * SECOND, '1h 5s'],
  [2 * HOUR + 3 * MINUTE + 4 * SECOND, '2h 3m'],
  [3 * DAY + 4 * HOUR, '3d 4h'],
])('the biggest units of %d ms are %s', (ms, text) => {
  expect(span(ms)).toBe(text);
});

describe('a time of the past', () => {
  const now = Date.UTC(2026, 0, 31, 12);

  test.each([
    [-MINUTE, 'just now'],
    [0, 'just now'],
    [4_999, 'just now'],
    [5_000, '5.0 s ago'],
    [4 * MINUTE, '4 min ago'],
    [3 * HOUR, '3 h ago'],
  ])('%d ms before is %s', (ms, text) => {
    expect(ago(now - ms, now)).toBe(text);
  });

  test('of today has no day, and one of another day has', () => {
    const noon = new Date(2026, 0, 31, 12).getTime();
    expect(shortTime(noon, noon)).toBe(timeOfDay(noon));
    expect(shortTime(noon - 2 * DAY, noon)).toMatch(/29/);
    // Midnight decides, wherever the test runs: not how many hours ago it was.
    const midnight = new Date(2026, 0, 31).getTime();
    expect(shortTime(midnight, midnight + DAY - 1)).toBe(timeOfDay(midnight));
    expect(shortTime(midnight - 1, midnight)).toMatch(/30/);
    expect(shortTime(midnight - HOUR, midnight + HOUR)).toMatch(/30/);
  });

  test('is told in the zone of the user and in UTC', () => {
    expect(moment(now)).toContain(day(now));
    expect(moment(now)).toContain(timeOfDay(now));
    expect(moment(now)).toContain(zoneOf(now));
    if (zoneOf(now) !== 'UTC') expect(moment(now)).toContain('(2026-01-31 12:00:00 UTC)');
  });
});

test.each([
  [0, '0 deliveries'],
  [1, '1 delivery'],
  [2, '2 deliveries'],
])('%d are %s', (value, text) => {
  expect(counted(value, 'delivery', 'deliveries')).toBe(text);
});
