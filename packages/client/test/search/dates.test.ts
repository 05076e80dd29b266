import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SearchSyntaxError } from '../../src/errors/index.ts';
import { searchDate } from '../../src/search/dates.ts';

test.each(['2026-01-31', '2024-02-29', '0001-01-01', '9999-12-31'])('takes %s', (date) => {
  expect(searchDate('since', date)).toBe(date);
});

test.each([
  '2026-02-30',
  '2025-02-29',
  '2026-13-01',
  '2026-00-10',
  '2026-01-00',
  '0000-01-01',
  '2026-1-1',
  '20260101',
  '+02026-01-01',
  '2026-01-01T00:00:00Z',
  '',
  'yesterday',
])('refuses %j', (date) => {
  expect(() => searchDate('since', date)).toThrow(SearchSyntaxError);
});

test('takes the day of a Date in UTC', () => {
  expect(searchDate('until', new Date('2026-03-01T23:59:59+02:00'))).toBe('2026-03-01');
  expect(searchDate('until', new Date('2026-03-01T00:30:00+02:00'))).toBe('2026-02-28');
});

test('refuses an invalid Date, and one outside of the years 1 to 9999', () => {
  expect(() => searchDate('since', new Date(NaN))).toThrow(SearchSyntaxError);
  expect(() => searchDate('since', new Date('+010000-01-01T00:00:00Z'))).toThrow(SearchSyntaxError);
  expect(() => searchDate('since', new Date('-000001-01-01T00:00:00Z'))).toThrow(SearchSyntaxError);
  expect(() => searchDate('since', 20260101 as never)).toThrow(SearchSyntaxError);
});

test('every day of the calendar is taken', () => {
  const days = fc.date({
    min: new Date('0001-01-01'),
    max: new Date('9999-12-31'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(days, (day) => {
      const text = day.toISOString().slice(0, 10);
      expect(searchDate('since', day)).toBe(text);
      expect(searchDate('since', text)).toBe(text);
    }),
  );
});
