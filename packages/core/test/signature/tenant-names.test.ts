import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { reportsRarely } from '../../src/signature/tenants.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('a failure that strangers may cause is reported once in 10 s', () => {
  const mayReport = reportsRarely();
  expect([mayReport(), mayReport()]).toEqual([true, false]);
  jest.advanceTimersByTime(9_999);
  expect(mayReport()).toBe(false);
  jest.advanceTimersByTime(1);
  expect([mayReport(), mayReport()]).toEqual([true, false]);
});
