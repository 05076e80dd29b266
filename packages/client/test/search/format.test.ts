import { expect, test } from '@jest/globals';
import { formatEventSearch } from '../../src/search/format.ts';
import { parseEventSearch } from '../../src/search/parse.ts';

test.each([
  ['from:myself to:b x to:a type:opened y', 'x y to:b to:a type:opened from:myself'],
  ['template:Intro', 'template:"Intro"'],
  ['sequence:5f0c9a1b2c3d4e5f60718293', 'sequence:5f0c9a1b2c3d4e5f60718293'],
  ['sequence:"5f0c9a1b2c3d4e5f60718293"', 'sequence:5f0c9a1b2c3d4e5f60718293'],
  ['sequence:Welcome', 'sequence:"Welcome"'],
  ['from:Sales', 'from:"Sales"'],
  ['from:"myself"', 'from:myself'],
  ['template:"*"', 'template:*'],
  ['to:"ann"', 'to:ann'],
])('%j becomes %j', (text, canonical) => {
  expect(formatEventSearch(parseEventSearch(text))).toBe(canonical);
});
