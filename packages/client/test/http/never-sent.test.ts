import { expect, test } from '@jest/globals';
import { provesNothingSent } from '../../src/http/never-sent.ts';

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
