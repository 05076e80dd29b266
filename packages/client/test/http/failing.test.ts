import { describe, expect, test } from '@jest/globals';
import { createDeadline } from '../../src/http/deadline.ts';
import { readApiError } from '../../src/http/read-error.ts';
import { provesNothingSent } from '../../src/http/retry.ts';
import { createRedactor } from '../../src/http/redact.ts';
import { safeCause } from '../../src/http/redact.ts';
import { everyPrint } from '../support/caught.ts';
import { testSettings, TOKEN } from '../support/client.ts';
import { TestClock, TIMEOUT } from '../support/clock.ts';

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
  const redactor = createRedactor(['tok-1']);

  test('keeps name, message and code, and drops everything else', () => {
    const original = Object.assign(new TypeError('bad tok-1'), {
      code: 'E_TOK',
      request: { headers: { 'x-api-token': 'tok-1' } },
    });
    const safe = safeCause(original, redactor);
    expect(safe).toMatchObject({ name: 'TypeError', message: 'bad [hidden]', code: 'E_TOK' });
    expect(everyPrint(safe)).not.toContain('tok-1');
  });

  test('cleans the causes too, and the first of several', () => {
    const inner = new Error('inner tok-1');
    const safe = safeCause(new AggregateError([inner], 'outer'), redactor);
    expect(safe.cause).toMatchObject({ message: 'inner [hidden]' });
  });

  test('ends in a circle of causes, and takes what is no error', () => {
    const circular = new Error('round');
    circular.cause = circular;
    expect(safeCause(circular, redactor).message).toBe('round');
    expect(safeCause('tok-1!', redactor).message).toBe('[hidden]!');
    expect(safeCause(undefined, redactor).message).toBe('undefined');
    expect(safeCause({}, redactor).message).toBe('unknown error');
  });
});

describe('redact', () => {
  test('takes a text out in its plain, its encoded and its JSON form', () => {
    const { text } = createRedactor(['a/b"c=', '']);
    expect(text('x a/b"c= y')).toBe('x [hidden] y');
    expect(text('?t=a%2Fb%22c%3D')).toBe('?t=[hidden]');
    expect(text('{"t":"a/b\\"c="}')).toBe('{"t":"[hidden]"}');
  });

  test('reaches every string of a JSON value, keys included', () => {
    const { json } = createRedactor(['tok']);
    expect(json({ tok: ['my tok', 1, null, { deep: 'tok' }], other: true })).toEqual({
      '[hidden]': ['my [hidden]', 1, null, { deep: '[hidden]' }],
      other: true,
    });
  });

  test('a text that holds another one goes first', () => {
    expect(createRedactor(['ab', 'abc']).text('abc')).toBe('[hidden]');
  });
});

describe('failure', () => {
  const spec = { method: 'GET', url: new URL('https://example.com/v1/events?search=x') } as const;

  function fail(body: string | ReadableStream | null, headers: Record<string, string> = {}) {
    const answer = {
      response: new Response(body, { status: 400, headers }),
      redactor: createRedactor([TOKEN]),
    };
    const clock = new TestClock();
    const deadline = createDeadline(clock, TIMEOUT, 'GET /', undefined);
    return readApiError(testSettings('https://example.com', { clock }), spec, answer, deadline);
  }

  test.each([
    [{ code: 'no_search' }, 'no_search'],
    [{ error: { code: 'deep' } }, 'deep'],
    [{ error: 'flat' }, 'flat'],
    [{ error: 'a whole sentence' }, undefined],
    [{ code: 7 }, undefined],
    [[], undefined],
    [null, undefined],
  ])('the service code of %j is %p', async (body, serviceCode) => {
    const error = await fail(JSON.stringify(body));
    expect(error.serviceCode).toBe(serviceCode);
    expect(error.body).toEqual(body);
  });

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
    const error = await fail(JSON.stringify({ code: TOKEN, sent: [`${TOKEN}!`] }), {
      'x-request-id': TOKEN,
    });
    expect(error.body).toEqual({ code: '[hidden]', sent: ['[hidden]!'] });
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
