import { expect, test } from '@jest/globals';
import { SearchSyntaxError } from '../../src/errors/index.ts';
import { checkValue, forbiddenAt } from '../../src/search/characters.ts';

test.each([
  ['', 'empty'],
  ['  ', 'empty'],
  [7, 'empty'],
  ['a"b', 'misplaced-quote'],
  ['a\nb', 'invalid-character'],
  ['a\u0000b', 'invalid-character'],
  ['a\ud800b', 'invalid-character'],
])('refuses %j as %s', (value, reason) => {
  expect(() => checkValue('to:', value)).toThrow(SearchSyntaxError);
  expect(() => checkValue('to:', value)).toThrow(expect.objectContaining({ reason }));
});

test('does not repeat the value, which may name people', () => {
  expect(() => checkValue('to:', 'ann@example.com"')).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('ann@') as never }),
  );
});

test('takes everything else', () => {
  expect(forbiddenAt('Zoë 😀 – “quotes” \u00a0')).toBe(-1);
  expect(() => checkValue('to:', 'Zoë 😀')).not.toThrow();
});
