import { describe, expect, test } from '@jest/globals';
import { inferNames } from '../../src/infer/index.ts';
import { base } from '../support/inferred.ts';

describe('lists', () => {
  function wire(...pages: unknown[]): Record<string, unknown> {
    return Object.fromEntries(
      inferNames(pages)
        .wire.filter(({ status }) => status !== 'not-seen')
        .map(({ setting, status, candidates }) => {
          const names = candidates.map(({ name }) => name);
          return [setting, status === 'found' ? names[0] : names];
        }),
    );
  }
  const calls = [{ _id: 'c1' }, { _id: 'c2' }];

  test.each<[string, unknown[], Record<string, unknown>]>([
    [
      'a cursor deeper down',
      [{ data: calls, paging: { next: 'x', more: true } }],
      { callsField: 'data', nextField: 'paging.next', hasNextField: 'paging.more' },
    ],
    [
      'a cursor in an object',
      [{ results: calls, next: { cursor: 'x' } }],
      { callsField: 'results', nextField: 'next.cursor' },
    ],
    [
      'a name that says nothing, over two pages',
      [
        { items: calls, after: 'x', page: 1, onward: true },
        { items: calls, after: null, page: 2, onward: false },
      ],
      { callsField: 'items', nextField: 'after', hasNextField: 'onward' },
    ],
    [
      'a URL',
      [{ results: calls, next: 'https://api.example.com/v1/calls?cursor=x&limit=2' }],
      { callsField: 'results', nextField: 'next', nextParam: 'cursor', limitParam: 'limit' },
    ],
    ['two lists of records', [{ a: calls, b: calls }], { callsField: ['a', 'b'] }],
    [
      'one of which has a call that was captured',
      [
        { a: calls, b: [{ _id: 'c9' }] },
        { ...base, callId: 'c9' },
      ],
      { callsField: 'b' },
    ],
    [
      'two cursors',
      [{ results: calls, nextId: 'x', nextPage: 2 }],
      { callsField: 'results', nextField: ['nextId', 'nextPage'] },
    ],
    [
      'activity events',
      [{ results: [{ _id: '1', action: 'opened' }], next: 'x' }],
      { nextField: 'next' },
    ],
    ['no cursor', [{ results: calls, total: 2 }], { callsField: 'results' }],
  ])('%s', (_, pages, expected) => {
    expect(wire(...pages)).toEqual(expected);
  });
});
