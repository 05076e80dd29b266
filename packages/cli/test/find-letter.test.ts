import { describe, expect, test } from '@jest/globals';
import type { DeadLetters } from '@call-webhooks/core';
import { findLetter, lettersOf as listed } from '../src/store/letters.ts';

/** Dead letters whose list comes in these pages, and the cursors that were asked for. */
function lettersOf(...pages: (readonly string[])[]) {
  const asked: (string | undefined)[] = [];
  const deadLetters = {
    get: async (id: string) => (pages.flat().includes(id) ? { id } : undefined),
    async list({ cursor, limit }: { cursor?: string; limit: number }) {
      expect(limit).toBe(1_000);
      asked.push(cursor);
      const at = Number(cursor ?? 0);
      const more = at + 1 < pages.length && { cursor: String(at + 1) };
      return { letters: (pages[at] ?? []).map((id) => ({ id })), ...more };
    },
  };
  const all = deadLetters as unknown as DeadLetters;
  return { asked, all, find: (id: string) => findLetter(all, id) };
}

const NONE = {
  exitCode: 2,
  fix: 'List them: npx call-webhooks dead-letters list',
};
const SEVERAL = { exitCode: 2, fix: 'Give more characters of the id.' };

describe('the beginning of an id', () => {
  test.each<[given: string, pages: string[][], found: string]>([
    ['ab', [['abc', 'xab']], 'abc'],
    ['ab', [['x'], [], ['y', 'abc']], 'abc'],
    // The whole id of one letter, and the beginning of another one.
    ['ab', [['abc', 'ab']], 'ab'],
    ['ab', [['abc'], ['ab']], 'ab'],
  ])('%s in %j is of %s', async (given, pages, found) => {
    expect(await lettersOf(...pages).find(given)).toEqual({ id: found });
  });

  test.each<[given: string, pages: string[][]]>([
    ['ab', []],
    ['ab', [['xab'], ['b']]],
    ['AB', [['abc']]],
  ])('%s in %j is of none', async (given, pages) => {
    const { find } = lettersOf(...pages);
    await expect(find(given)).rejects.toMatchObject({
      ...{ ...NONE, message: `There is no dead letter ${given}.` },
    });
  });

  test.each<[pages: string[][], asked: (string | undefined)[]]>([
    [[['abc', 'abd']], [undefined]],
    [
      [['abc'], ['x'], ['abd'], ['abe']],
      [undefined, '1', '2'],
    ],
  ])('ab in %j is of several, and no further page is read', async (pages, asked) => {
    const letters = lettersOf(...pages);
    await expect(letters.find('ab')).rejects.toMatchObject({
      ...{ ...SEVERAL, message: 'The ids of several dead letters start with ab.' },
    });
    expect(letters.asked).toEqual(asked);
  });

  test('of one that was removed meanwhile is of none', async () => {
    const list = async () => ({ letters: [{ id: 'abc' }] });
    const gone = { list, get: async () => undefined } as unknown as DeadLetters;
    await expect(findLetter(gone, 'ab')).rejects.toMatchObject(NONE);
  });
});

test.each([
  [[[]], []],
  [[['a']], ['a']],
  [
    [['a'], ['b', 'c']],
    ['a', 'b', 'c'],
  ],
  [
    [['a'], [], ['b'], []],
    ['a', 'b'],
  ],
])('a list that comes in the pages %j is read to its end', async (pages, ids) => {
  const { all, asked } = lettersOf(...pages);
  const found: string[] = [];
  for await (const { id } of listed(all, {})) found.push(id);
  expect(found).toEqual(ids);
  expect(asked).toHaveLength(pages.length);
});
