import { describe, expect, jest, test } from '@jest/globals';
import { sleep, systemClock } from '../../src/clock.ts';
import { TimeoutError } from '../../src/errors/index.ts';
import { orAbort } from '../../src/http/deadline.ts';
import { createDeadline } from '../../src/http/deadline.ts';
import { parseRetryAfter } from '../../src/http/retry.ts';
import { TestClock, TIMEOUT } from '../support/clock.ts';

describe('clock', () => {
  test('sleeps for as long as the clock says', async () => {
    const clock = new TestClock();
    await sleep(clock, 250);
    expect(clock.pauses).toEqual([250]);
  });

  test('an abort ends a sleep, with the reason, and clears the timer', async () => {
    const clock = new TestClock();
    const controller = new AbortController();
    const sleeping = sleep(clock, TIMEOUT, controller.signal);
    expect(clock.armed).toBe(1);
    controller.abort(new Error('enough'));
    await expect(sleeping).rejects.toThrow('enough');
    expect(clock.armed).toBe(0);
  });

  test('a signal that is aborted already ends it at once', async () => {
    const clock = new TestClock();
    await expect(sleep(clock, 1, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
    expect(clock.pauses).toEqual([]);
  });

  test('the system clock tells the time and calls back, unless cancelled', async () => {
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1000);
    let cancelled = true;
    const cancel = systemClock.schedule(0, () => (cancelled = false));
    cancel();
    await new Promise<void>((resolve) => systemClock.schedule(1, resolve));
    expect(cancelled).toBe(true);
  });
});

describe('abort', () => {
  const never = new Promise<never>(() => undefined);

  test('passes the result and the error on', async () => {
    await expect(orAbort(Promise.resolve(1), undefined)).resolves.toBe(1);
    await expect(orAbort(Promise.resolve(1), new AbortController().signal)).resolves.toBe(1);
    const failing = Promise.reject(new Error('x'));
    await expect(orAbort(failing, new AbortController().signal)).rejects.toThrow('x');
  });

  test('an abort wins over what never settles', async () => {
    const controller = new AbortController();
    const waiting = orAbort(never, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(orAbort(never, controller.signal)).rejects.toThrow('enough');
  });
});

describe('deadline', () => {
  const never = (): Promise<never> => new Promise(() => undefined);

  test('the limit runs during a step, and not between steps', async () => {
    const clock = new TestClock();
    const deadline = createDeadline(clock, TIMEOUT, 'GET /', undefined);
    await deadline.run('headers', async () => expect(clock.armed).toBe(1));
    expect(clock.armed).toBe(0);
    const step = deadline.run('body', never);
    clock.expire();
    await expect(step).rejects.toBeInstanceOf(TimeoutError);
    expect(deadline.signal.aborted).toBe(true);
  });

  test('whatever the step throws after an abort, the reason of the abort is what counts', async () => {
    const caller = new AbortController();
    const deadline = createDeadline(new TestClock(), TIMEOUT, 'GET /', caller.signal);
    const step = deadline.run('headers', async () => {
      caller.abort(new Error('the caller'));
      throw new Error('of fetch');
    });
    await expect(step).rejects.toThrow('the caller');
    await expect(deadline.run('body', never)).rejects.toThrow('the caller');
  });

  test('follows a signal that is aborted already, and lets go of one when it is closed', () => {
    const before = createDeadline(new TestClock(), TIMEOUT, 'GET /', AbortSignal.abort());
    expect(before.signal.aborted).toBe(true);
    const caller = new AbortController();
    const closed = createDeadline(new TestClock(), TIMEOUT, 'GET /', caller.signal);
    closed.close();
    caller.abort();
    expect(closed.signal.aborted).toBe(false);
  });
});

describe('retry-after', () => {
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
});
