import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import {
  ApiError,
  brand,
  ClientError,
  ConfigurationError,
  NetworkError,
  SearchSyntaxError,
  TimeoutError,
  UnconfirmedWriteError,
} from '../src/errors.ts';
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
    expect(error.message).toBe(`GET /v1/events responded with status ${status}`);
  });

  test('the body is there, but is not printed', () => {
    const body = { message: 'no such person: ann@example.com' };
    const error = new ApiError({ method: 'GET', path: '/', status: 400, body });
    expect(error.body).toBe(body);
    expect(inspect(error)).not.toContain('ann@');
    expect(JSON.stringify(error)).not.toContain('ann@');
  });
});

test('every class has its code and its name', () => {
  const made = [
    new ConfigurationError('x'),
    new ConfigurationError('x', 'foreign-origin'),
    new NetworkError('x', { maybeSent: true }),
    new TimeoutError('GET /', 'body', 5),
    new SearchSyntaxError('x'),
    new ApiError({ method: 'GET', path: '/', status: 302, code: 'redirect', problem: 'x' }),
    new UnconfirmedWriteError('write-unconfirmed', 'add-webhook', 'x'),
  ];
  expect(made.map((error) => [error.name, error.code])).toEqual([
    ['ConfigurationError', 'configuration'],
    ['ConfigurationError', 'foreign-origin'],
    ['NetworkError', 'network'],
    ['TimeoutError', 'timeout'],
    ['SearchSyntaxError', 'search-syntax'],
    ['ApiError', 'redirect'],
    ['UnconfirmedWriteError', 'write-unconfirmed'],
  ]);
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

test('the secrets and the response of a write are at hand, but never printed', () => {
  const secrets = [{ path: 'secret', secret: 'whsec_bmV3' }];
  const response = { note: 'for your eyes', secret: 'whsec_bmV3' };
  const error = new UnconfirmedWriteError('secret-not-saved', 'rotate-signing-secret', 'gone', {
    secrets,
    response,
    cause: new Error('disk full'),
  });
  expect(error).toMatchObject({ secrets, response });
  expect(everyPrint(new Error('', { cause: error.message }))).not.toContain('whsec_');
  expect(inspect(error)).not.toMatch(/whsec_|eyes/);
  expect(JSON.stringify(error)).not.toMatch(/whsec_|eyes/);
});

describe('search-syntax-error', () => {
  test('the position is in the message where there is one', () => {
    expect(new SearchSyntaxError('to: needs a value', 0)).toMatchObject({
      message: 'to: needs a value (at position 0)',
      position: 0,
    });
    expect(new SearchSyntaxError('to: needs a value').message).toBe('to: needs a value');
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
