import { expect, test } from '@jest/globals';
import { createRedactor } from '../../src/http/redact.ts';

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
