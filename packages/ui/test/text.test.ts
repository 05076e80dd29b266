import { expect, test } from '@jest/globals';
import { visible } from '../src/visible.ts';

test.each([
  ['a\u202egpj.exe', 'a\\u202egpj.exe'],
  ['\u2066x\u2069', '\\u2066x\\u2069'],
  ['c\u200b1', 'c\\u200b1'],
  ['tag \u{e0041}', 'tag \\udb40\\udc41'],
  ['\u3164', '\\u3164'],
  ['half \ud800', 'half \\ud800'],
  ['bell \u0007', 'bell \\u0007'],
])('what hides itself in %j is shown as an escape', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test('every other text stays as it is, with its lines and tabs', () => {
  const text = 'שלום, Ada Löve 😀\n\t{ "a": 1 }\r\n';
  expect(visible(text)).toBe(text);
});
