import { expect, test } from '@jest/globals';
import { eventSearch } from '../../src/search/builder.ts';
import type { AnyEventSearch } from '../../src/search/builder-types.ts';
import { ANY } from '../../src/search/tree.ts';

// What is checked here is that it compiles, or does not: `npm run typecheck` covers this file.
const misuse: (() => unknown)[] = [
  // @ts-expect-error since is used up
  () => eventSearch().since('2026-01-01').since('2026-01-02'),
  // @ts-expect-error also with something in between
  () => eventSearch().since('2026-01-01').to('ann').since('2026-01-02'),
  // @ts-expect-error until is used up
  () => eventSearch().until('2026-01-01').until('2026-01-02'),
  // @ts-expect-error type is used up
  () => eventSearch().type('opened').type('clicked'),
  // @ts-expect-error template is used up
  () => eventSearch().template(ANY).template('a'),
  // @ts-expect-error sequence is used up
  () => eventSearch().sequence('a').sequence('b'),
  // @ts-expect-error from is used up
  () => eventSearch().from('myself').from('team'),
  // @ts-expect-error subject is used up
  () => eventSearch().subject('a').subject('b'),
  // @ts-expect-error text and subject exclude each other
  () => eventSearch().text('a').subject('b'),
  // @ts-expect-error subject and text exclude each other
  () => eventSearch().subject('a').text('b'),
  // @ts-expect-error not one of the seven types
  () => eventSearch().type('bounced'),
];

test('what does not compile throws as well', () => {
  for (const use of misuse) expect(use).toThrow();
});

test('what may be repeated compiles, and every search is one that can be sent', () => {
  const search: AnyEventSearch = eventSearch()
    .to('a')
    .to('b')
    .text('c')
    .text('d')
    .since('2026-01-01');
  expect(search.toString()).toBe('c d to:a to:b since:2026-01-01');
});
