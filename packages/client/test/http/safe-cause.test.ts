import { expect, test } from '@jest/globals';
import { createRedactor } from '../../src/http/redact.ts';
import { safeCause } from '../../src/http/safe-cause.ts';
import { everyPrint } from '../support/caught.ts';

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
