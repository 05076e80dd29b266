import { expect, test } from '@jest/globals';
import { withVisibleDirections } from '../src/api.ts';

test('what turns the direction of text is shown as an escape, wherever it is in the data', () => {
  expect(
    withVisibleDirections({ error: 'a\u202egpj.exe', list: ['\u2066x\u2069', 1, null, true] }),
  ).toEqual({ error: 'a\\u202egpj.exe', list: ['\\u2066x\\u2069', 1, null, true] });
  const plain = { name: 'שלום, Ada', nested: { at: 5 } };
  expect(withVisibleDirections(plain)).toEqual(plain);
});
