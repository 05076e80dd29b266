import { expect, jest, test } from '@jest/globals';
import { parseRetryAfter } from '../../src/http/retry-after.ts';

const now = Date.parse('2026-01-01T00:00:00.500Z');

test.each([
  ['0', 0],
  ['120', 120],
  [' 7 ', 7],
  ['Thu, 01 Jan 2026 00:00:10 GMT', 10],
  ['Thursday, 01-Jan-26 00:01:00 GMT', 60],
  ['Thu Jan  1 00:00:05 2026 GMT', 5],
  ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
])('%j is %d seconds away', (header, seconds) => {
  expect(parseRetryAfter(header, now)).toBe(seconds);
});

test.each([null, '', '-1', '1.5', '1e3', 'soon', 'Thu, nonsense', '99999999999'])(
  '%j is neither form',
  (header) => {
    expect(parseRetryAfter(header, now)).toBeUndefined();
  },
);

test('the oldest form of a date has no zone: it is read as GMT, not as local time', () => {
  const parse = jest.spyOn(Date, 'parse');
  expect(parseRetryAfter('Thu Jan  1 00:00:05 2026', now)).toBe(5);
  expect(parse).toHaveBeenCalledWith('Thu Jan  1 00:00:05 2026 GMT');
  parse.mockRestore();
});
