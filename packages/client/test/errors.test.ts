import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../src/errors/index.ts';
import { brand } from '../src/errors/client-error.ts';
import * as errors from '../src/errors/index.ts';
import { ClientError, NetworkError } from '../src/errors/index.ts';
import { SecretNotSavedError, UnconfirmedWriteError } from '../src/errors/index.ts';
import { SearchSyntaxError } from '../src/errors/index.ts';
import { TimeoutError } from '../src/errors/index.ts';
import { everyPrint } from './support/caught.ts';

describe('api-error', () => {
  test.each([
    [400, 'bad-request'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not-found'],
    [409, 'conflict'],
    [416, 'range-not-satisfiable'],
    [418, 'client-error'],
    [429, 'rate-limited'],
    [500, 'server-error'],
    [503, 'server-error'],
    [304, 'unexpected-status'],
  ])('status %d has the code %s', (status, code) => {
    const error = new ApiError({ method: 'GET', path: '/v1/events', status });
    expect(error).toMatchObject({ code, status });
    expect(error.message).toBe(`GET /v1/events was answered with status ${status}`);
  });

  test('the body is there, but is not printed', () => {
    const body = { message: 'no such person: ann@example.com' };
    const error = new ApiError({ method: 'GET', path: '/', status: 400, body });
    expect(error.body).toBe(body);
    expect(inspect(error)).not.toContain('ann@');
    expect(JSON.stringify(error)).not.toContain('ann@');
  });
});

describe('argument-errors', () => {
  test('every class has its code and its name', () => {
    const made = [
      new errors.ConfigurationError('x'),
      new errors.ForeignOriginError('x', 'https://other.example.com'),
      new errors.UnsupportedRuntimeError('x'),
      new errors.InvalidResponseError('x'),
      new errors.RedirectError('x', 302),
      new errors.NetworkError('x', { maybeSent: true }),
      new errors.TimeoutError('GET /', 'body', 5),
      new errors.SearchSyntaxError('empty', 'x'),
    ];
    expect(made.map((error) => [error.name, error.code])).toEqual([
      ['ConfigurationError', 'configuration'],
      ['ForeignOriginError', 'foreign-origin'],
      ['UnsupportedRuntimeError', 'unsupported-runtime'],
      ['InvalidResponseError', 'invalid-response'],
      ['RedirectError', 'redirect'],
      ['NetworkError', 'network'],
      ['TimeoutError', 'timeout'],
      ['SearchSyntaxError', 'search-syntax'],
    ]);
  });
});

describe('brand', () => {
  function copyOf(name: string): new () => Error {
    class Copy extends Error {}
    brand(Copy, name);
    return Copy;
  }

  describe('instanceof', () => {
    test('holds between copies of a class, both ways', () => {
      const Copy = copyOf('ApiError');
      const original = new ApiError({ method: 'GET', path: '/', status: 500 });
      expect(new Copy()).toBeInstanceOf(ApiError);
      expect(original).toBeInstanceOf(Copy);
      expect(original).not.toBeInstanceOf(copyOf('NetworkError'));
    });

    test('follows inheritance', () => {
      const error = new NetworkError('x', { maybeSent: true });
      expect(error).toBeInstanceOf(ClientError);
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toBeInstanceOf(ApiError);
    });

    test('stays exact for classes that users derive', () => {
      class Mine extends NetworkError {}
      expect(new Mine('x', { maybeSent: true })).toBeInstanceOf(Mine);
      expect(new Mine('x', { maybeSent: true })).toBeInstanceOf(NetworkError);
      expect(new NetworkError('x', { maybeSent: true })).not.toBeInstanceOf(Mine);
    });

    test.each([undefined, null, 'ApiError', 1, {}, () => 1])('is false for %p', (value) => {
      expect(value instanceof ApiError).toBe(false);
    });
  });

  test('the name is printed, and is not an own property', () => {
    const error = new NetworkError('gone', { maybeSent: false });
    expect(String(error)).toBe('NetworkError: gone');
    expect(Object.keys(error)).not.toContain('name');
  });
});

describe('rule-errors', () => {
  test('an unconfirmed write says what may have happened, and hides the answer', () => {
    const response = { note: 'for your eyes' };
    const error = new UnconfirmedWriteError('rotate-signing-secret', 'no answer', { response });
    expect(error.message).toContain('may have been rotated: no answer');
    expect(error.response).toBe(response);
    expect(JSON.stringify(error)).not.toContain('eyes');
    expect(new UnconfirmedWriteError('add-webhook', 'x').message).toContain(
      'may have been created',
    );
  });

  test('an unsaved secret is at hand, but never printed', async () => {
    let saved = 0;
    const error = new SecretNotSavedError({
      secret: 'whsec_bmV3',
      secrets: [{ secret: 'whsec_bmV3' }],
      save: async () => {
        saved++;
      },
      cause: new Error('disk full'),
    });
    expect(everyPrint(error)).not.toContain('whsec_');
    expect(Object.keys(error)).not.toContain('secret');
    expect(error.secret).toBe('whsec_bmV3');
    expect(error.secrets).toEqual([{ secret: 'whsec_bmV3' }]);
    await error.retry();
    expect(saved).toBe(1);
  });
});

describe('search-syntax-error', () => {
  test('the position is in the message where there is one', () => {
    expect(new SearchSyntaxError('empty', 'to: needs a value', 0)).toMatchObject({
      message: 'to: needs a value (at position 0)',
      position: 0,
      reason: 'empty',
    });
    expect(new SearchSyntaxError('empty', 'to: needs a value').message).toBe('to: needs a value');
  });
});

describe('timeout-error', () => {
  test.each([
    ['token', 'GET /: waited 5 ms for the API token', false],
    ['headers', 'GET /: waited 5 ms for a response', true],
    ['body', 'GET /: waited 5 ms for more of the response', true],
  ] as const)('tells what was waited for: %s', (phase, message, maybeSent) => {
    expect(new TimeoutError('GET /', phase, 5)).toMatchObject({
      message,
      maybeSent,
      phase,
      timeout: 5,
    });
  });
});
