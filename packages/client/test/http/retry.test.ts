import { describe, expect, jest, test } from '@jest/globals';
import { createDeadline, orAbort, sleep, systemClock } from '../../src/clock.ts';
import { ApiError, NetworkError, TimeoutError } from '../../src/errors.ts';
import { createRedact, provesNothingSent, safeCause } from '../../src/http/failure.ts';
import { backoff, parseRetryAfter, readApiError, withRetries } from '../../src/http/transport.ts';
import { everyPrint } from '../support/caught.ts';
import { testSettings, TOKEN } from '../support/client.ts';
import { TestClock, TIMEOUT } from '../support/clock.ts';

describe('retries', () => {
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
    const settings = testSettings(base);
    const delays = [1, 2, 3, 6, 7, 100].map((retry) => backoff(settings, retry));
    expect(delays).toEqual([250, 500, 1000, 8000, 10_000, 10_000]);
    jest.mocked(Math.random).mockReturnValueOnce(0.999);
    expect(backoff(settings, 1)).toBe(500);
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
      const settings = testSettings(base, { clock, retries: 1 });
      jest.mocked(Math.random).mockReturnValueOnce(0.5);
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
});

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
    ['00000000007', 7],
    ['99999999999', 99_999_999_999],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
    ['Thu, 01 Jan 2026 00:00:10 GMT', 10],
    ['Thursday, 01-Jan-26 00:01:00 GMT', 60],
    ['Thu Jan  1 00:00:05 2026 GMT', 5],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
  ])('%j is %d seconds away', (header, seconds) => {
    expect(parseRetryAfter(header, now)).toBe(seconds);
  });

  test.each([null, '', '-1', '1.5', '1e3', 'soon', 'Thu, nonsense'])(
    '%j is neither form',
    (header) => {
      expect(parseRetryAfter(header, now)).toBeUndefined();
    },
  );
});

describe('never-sent', () => {
  function coded(code: string, more: object = {}): Error {
    return Object.assign(new Error(code), { code }, more);
  }

  test.each([
    ['a refused connection', coded('ECONNREFUSED')],
    ['an unknown host', coded('ENOTFOUND')],
    ['a slow connection', coded('UND_ERR_CONNECT_TIMEOUT')],
    ['the cause of a TypeError', new TypeError('fetch failed', { cause: coded('ECONNREFUSED') })],
    ['an unreachable host, of connect', coded('EHOSTUNREACH', { syscall: 'connect' })],
    ['two refusals', new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')])],
  ])('%s proves it', (_, error) => {
    expect(provesNothingSent(error)).toBe(true);
  });

  const circular = new Error('circle');
  circular.cause = circular;

  test.each([
    ['a reset', coded('ECONNRESET')],
    ['an unreachable host, later', coded('EHOSTUNREACH', { syscall: 'read' })],
    ['a refusal and a reset', new AggregateError([coded('ECONNREFUSED'), coded('ECONNRESET')])],
    ['an error without a code', new TypeError('fetch failed')],
    ['no error', 'ECONNREFUSED'],
    ['nothing', undefined],
    ['a circle', circular],
  ])('%s does not', (_, error) => {
    expect(provesNothingSent(error)).toBe(false);
  });
});

describe('safe-cause', () => {
  const redact = createRedact(['tok-1']);

  test('keeps name, message and code, and drops everything else', () => {
    const original = Object.assign(new TypeError('bad tok-1'), {
      code: 'E_TOK',
      request: { headers: { 'x-api-token': 'tok-1' } },
    });
    const safe = safeCause(original, redact);
    expect(safe).toMatchObject({ name: 'TypeError', message: 'bad [hidden]', code: 'E_TOK' });
    expect(everyPrint(safe)).not.toContain('tok-1');
  });

  test('cleans the causes too, and the first of several', () => {
    const inner = new Error('inner tok-1');
    const safe = safeCause(new AggregateError([inner], 'outer'), redact);
    expect(safe.cause).toMatchObject({ message: 'inner [hidden]' });
  });

  test('ends in a circle of causes, and takes what is no error', () => {
    const circular = new Error('round');
    circular.cause = circular;
    expect(safeCause(circular, redact).message).toBe('round');
    expect(safeCause('tok-1!', redact).message).toBe('[hidden]!');
    expect(safeCause(undefined, redact).message).toBe('undefined');
    expect(safeCause({}, redact).message).toBe('unknown error');
  });
});

describe('redact', () => {
  test('takes a text out in its plain, its encoded and its JSON form', () => {
    const redact = createRedact(['a/b"c=', '']);
    expect(redact('x a/b"c= y')).toBe('x [hidden] y');
    expect(redact('?t=a%2Fb%22c%3D')).toBe('?t=[hidden]');
    expect(redact('{"t":"a/b\\"c="}')).toBe('{"t":"[hidden]"}');
  });

  test('a text that holds another one goes first', () => {
    expect(createRedact(['ab', 'abc'])('abc')).toBe('[hidden]');
  });
});

describe('failure', () => {
  const spec = { method: 'GET', url: new URL('https://example.com/v1/events?search=x') } as const;

  function fail(body: string | ReadableStream | null, headers: Record<string, string> = {}) {
    const answer = {
      response: new Response(body, { status: 400, headers }),
      redact: createRedact([TOKEN]),
      authenticated: true,
    };
    const clock = new TestClock();
    const deadline = createDeadline(clock, TIMEOUT, 'GET /', undefined);
    return readApiError(testSettings('https://example.com', { clock }), spec, answer, deadline);
  }

  test('reads the request id and Retry-After', async () => {
    const error = await fail('x', { 'x-request-id': 'req-1', 'retry-after': '3' });
    expect(error).toMatchObject({
      requestId: 'req-1',
      retryAfter: 3,
      path: '/v1/events',
      body: 'x',
    });
  });

  test('an answer that repeats the token is cleaned, whatever its form', async () => {
    const escaped = TOKEN.replace('/', '\\/');
    const body = `{"code":"${TOKEN}","sent":["${escaped}!"],"${TOKEN}":1}`;
    const error = await fail(body, { 'x-request-id': TOKEN });
    expect(error.body).toEqual({ code: '[hidden]', sent: ['[hidden]!'], '[hidden]': 1 });
    expect(error.requestId).toBe('[hidden]');
    expect((await fail(`<b>${TOKEN}</b>`)).body).toBe('<b>[hidden]</b>');
  });

  test('a body that is empty, huge or broken does not hide the status', async () => {
    expect((await fail(null)).body).toBeUndefined();
    expect((await fail('x'.repeat(65_536))).body).toHaveLength(65_536);
    expect((await fail('x'.repeat(65_537))).body).toBeUndefined();
    const broken = new ReadableStream({
      pull: (controller) => controller.error(new Error('reset')),
    });
    await expect(fail(broken)).resolves.toMatchObject({ status: 400, body: undefined });
  });
});
