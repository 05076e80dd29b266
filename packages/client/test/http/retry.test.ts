import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ApiError, NetworkError, TimeoutError } from '../../src/errors/index.ts';
import { backoff, withRetries } from '../../src/http/retry.ts';
import { testSettings } from '../support/client.ts';
import { TestClock } from '../support/clock.ts';

const base = 'https://example.com';

function failing(error: unknown): {
  attempt: (number: number) => Promise<never>;
  numbers: number[];
} {
  const numbers: number[] = [];
  return { numbers, attempt: (number) => (numbers.push(number), Promise.reject(error)) };
}

function apiError(status: number, retryAfter?: number): ApiError {
  return new ApiError({ method: 'GET', path: '/', status, retryAfter });
}

test('the back-off doubles up to its cap, and half of it is random', () => {
  const settings = { retry: testSettings(base).retry, random: () => 0 };
  expect([1, 2, 3, 6, 7, 100].map((retry) => backoff(settings, retry))).toEqual([
    250, 500, 1000, 8000, 10_000, 10_000,
  ]);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (retry, random) => {
        const delay = backoff({ ...settings, random: () => random }, retry);
        expect(delay).toBeGreaterThanOrEqual(250);
        expect(delay).toBeLessThanOrEqual(20_000);
      },
    ),
  );
});

describe('a GET', () => {
  test.each([
    ['429', apiError(429)],
    ['500', apiError(500)],
    ['503', apiError(503)],
    ['a broken connection', new NetworkError('x', { maybeSent: true })],
    ['a silent connection', new TimeoutError('GET /', 'headers', 5)],
  ])('is tried four times on %s', async (_, error) => {
    const clock = new TestClock();
    const { attempt, numbers } = failing(error);
    await expect(
      withRetries(testSettings(base, { clock }), 'GET', undefined, attempt),
    ).rejects.toBe(error);
    expect(numbers).toEqual([1, 2, 3, 4]);
    expect(clock.pauses).toEqual([250, 500, 1000]);
  });

  test.each([
    ['404', apiError(404)],
    ['401', apiError(401)],
    ['a slow token', new TimeoutError('GET /', 'token', 5)],
    ['anything else', new Error('x')],
  ])('is tried once on %s', async (_, error) => {
    const { attempt, numbers } = failing(error);
    await expect(withRetries(testSettings(base), 'GET', undefined, attempt)).rejects.toBe(error);
    expect(numbers).toEqual([1]);
  });

  test('waits for as long as it is asked to, and never less', async () => {
    const clock = new TestClock();
    const settings = testSettings(base, { clock, random: () => 0.5, retries: 1 });
    await expect(
      withRetries(settings, 'GET', undefined, failing(apiError(429, 7)).attempt),
    ).rejects.toBeInstanceOf(ApiError);
    expect(clock.pauses).toEqual([7250]);
  });

  test('does not wait for longer than maxRetryAfter', async () => {
    const clock = new TestClock();
    const { attempt, numbers } = failing(apiError(503, 61));
    await expect(
      withRetries(testSettings(base, { clock }), 'GET', undefined, attempt),
    ).rejects.toMatchObject({ retryAfter: 61 });
    expect(numbers).toEqual([1]);
  });

  test('is not tried again after an abort', async () => {
    const { attempt, numbers } = failing(apiError(500));
    await expect(
      withRetries(testSettings(base), 'GET', AbortSignal.abort(), attempt),
    ).rejects.toThrow();
    expect(numbers).toEqual([1]);
  });
});

describe('a write', () => {
  test.each([
    [false, [1, 2, 3, 4]],
    [true, [1]],
  ])('after a network error where maybeSent is %p is tried %j', async (maybeSent, tries) => {
    const { attempt, numbers } = failing(new NetworkError('x', { maybeSent }));
    await expect(withRetries(testSettings(base), 'PATCH', undefined, attempt)).rejects.toThrow();
    expect(numbers).toEqual(tries);
  });

  test.each([429, 500, 503])('is tried once on status %d', async (status) => {
    const { attempt, numbers } = failing(apiError(status, 1));
    await expect(withRetries(testSettings(base), 'POST', undefined, attempt)).rejects.toThrow();
    expect(numbers).toEqual([1]);
  });
});
