import { describe, expect, test } from '@jest/globals';
import { attemptResult, retryDelay } from '../../src/deliveries/attempt-result.ts';
import type { AttemptResponse } from '../../src/deliveries/delivery.ts';

const status = (code: number): AttemptResponse => ({
  kind: 'status',
  status: code,
  headers: {},
  body: '',
  truncated: false,
});

describe("the spec's table of states and transitions", () => {
  test.each([200, 201, 202, 204, 299])('%i acknowledges', (code) => {
    expect(attemptResult(status(code), 1, 6)).toEqual({ next: 'acknowledged' });
    expect(attemptResult(status(code), 6, 6)).toEqual({ next: 'acknowledged' });
  });

  test('404 pauses at once, with any attempt', () => {
    for (const attempt of [1, 3, 6])
      expect(attemptResult(status(404), attempt, 6)).toEqual({
        next: 'paused',
        reason: 'answered-404',
      });
  });

  test.each([100, 301, 302, 307, 400, 401, 403, 409, 410, 429, 500, 502, 503])(
    '%i is retried',
    (code) => {
      expect(attemptResult(status(code), 1, 6)).toEqual({ next: 'retry', reason: 'status' });
    },
  );

  test('no answer in time, and a connection error, are retried', () => {
    expect(attemptResult({ kind: 'timeout' }, 5, 6)).toEqual({ next: 'retry', reason: 'timeout' });
    expect(attemptResult({ kind: 'connection-error', code: 'ECONNREFUSED' }, 1, 6)).toEqual({
      next: 'retry',
      reason: 'connection-error',
    });
  });

  test('the rule is paused when the last attempt fails', () => {
    const paused = { next: 'paused', reason: 'last-attempt-failed' };
    expect(attemptResult(status(500), 6, 6)).toEqual(paused);
    expect(attemptResult({ kind: 'timeout' }, 6, 6)).toEqual(paused);
    expect(attemptResult({ kind: 'connection-error', code: 'ECONNRESET' }, 1, 1)).toEqual(paused);
  });
});

test('a retry comes about every five minutes', () => {
  expect(retryDelay(300_000, 0.1, 0)).toBe(270_000);
  expect(retryDelay(300_000, 0.1, 0.5)).toBe(300_000);
  expect(retryDelay(300_000, 0.1, 1)).toBe(330_000);
  expect(retryDelay(300_000, 0, 0.9)).toBe(300_000);
});
