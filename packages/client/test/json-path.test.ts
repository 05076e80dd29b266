import { expect, test } from '@jest/globals';
import { isRecord, pathsTo, valueAt } from '../src/json-path.ts';

test.each<[value: unknown, path: string, found: unknown]>([
  [{ next: 1 }, 'next', 1],
  [{ paging: { next: 'n' } }, 'paging.next', 'n'],
  [{ paging: { next: null } }, 'paging.next', null],
  [{ list: ['a', 'b'] }, 'list.1', 'b'],
  [{ 'a.b': 1 }, 'a.b', undefined],
  [{ next: 1 }, 'next.more', undefined],
  [{ next: 'text' }, 'next.length', undefined],
  [{ a: null }, 'a.b', undefined],
  [null, 'a', undefined],
  ['text', 'length', undefined],
  // What an object inherits is no field of a response.
  [{}, 'constructor', undefined],
  [{}, 'toString', undefined],
  [{}, '__proto__', undefined],
  [{ a: {} }, 'a.constructor.name', undefined],
  [JSON.parse('{"__proto__":{"next":2}}'), '__proto__.next', 2],
])('%j has at %s: %j', (value, path, found) => {
  expect(valueAt(value, path)).toEqual(found);
});

test('paths lead to all that passes, in order, but into no list, and to no more than four levels', () => {
  const value = {
    ...{ a: 1, b: { c: 1, d: [{ e: 1 }], 'f.g': 1 } },
    h: { i: { j: { k: 1, l: { m: 1 } } } },
  };
  const isOne = (one: unknown) => one === 1;
  expect(pathsTo(value, isOne)).toEqual(['a', 'b.c', 'h.i.j.k']);
  expect(pathsTo(value, Array.isArray)).toEqual(['b.d']);
  // What is inside of it is not looked at.
  expect(pathsTo(value, isRecord)).toEqual(['b', 'h']);
  expect(pathsTo(value, (_one, path) => path.endsWith('l'))).toEqual(['h.i.j.l']);
  for (const none of [1, null, 'text', [1]]) expect(pathsTo(none, isOne)).toEqual([]);
});

test.each([
  [{}, true],
  [Object.create(null), true],
  [[], false],
  [null, false],
  ['text', false],
  [undefined, false],
])('%j is a record: %s', (value, is) => {
  expect(isRecord(value)).toBe(is);
});
