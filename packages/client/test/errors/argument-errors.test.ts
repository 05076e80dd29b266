import { expect, test } from '@jest/globals';
import * as errors from '../../src/errors/index.ts';

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
