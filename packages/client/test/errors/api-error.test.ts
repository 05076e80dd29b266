import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { ApiError } from '../../src/errors/api-error.ts';

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
