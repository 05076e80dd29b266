import { expect, test } from '@jest/globals';
import { TimeoutError } from '../../src/errors/timeout-error.ts';

test.each([
  ['token', 'GET /: waited 5 ms for the API token', false],
  ['headers', 'GET /: waited 5 ms for an answer', true],
  ['body', 'GET /: waited 5 ms for more of the answer', true],
] as const)('tells what was waited for: %s', (phase, message, maybeSent) => {
  expect(new TimeoutError('GET /', phase, 5)).toMatchObject({
    message,
    maybeSent,
    phase,
    timeout: 5,
  });
});
