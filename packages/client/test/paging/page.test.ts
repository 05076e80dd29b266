import { expect, test } from '@jest/globals';
import { InvalidResponseError } from '../../src/errors/index.ts';
import { readPage } from '../../src/paging/page.ts';
import { defaultWireNames } from '../../src/wire.ts';

test.each([
  [{ results: [{ _id: '1' }], next: 'n', hasNext: true }, 'n', true],
  [{ results: [{ _id: '1' }], next: 'n' }, 'n', true],
  [{ results: [{ _id: '1' }], next: 7 }, '7', true],
  [{ results: [{ _id: '1' }], next: 'n', hasNext: false }, 'n', false],
  [{ results: [{ _id: '1' }], hasNext: true }, undefined, false],
  [{ results: [{ _id: '1' }], next: '' }, undefined, false],
  [{ results: [{ _id: '1' }], next: null }, undefined, false],
  [{ results: [{ _id: '1' }], next: {} }, undefined, false],
  [[{ _id: '1' }], undefined, false],
])('%j has the cursor %p', (raw, next, hasNext) => {
  expect(readPage(raw, 'GET /', 'results', defaultWireNames)).toEqual({
    results: [{ _id: '1' }],
    next,
    hasNext,
    raw,
  });
});

test('the fields may have other names, and lie deeper', () => {
  const raw = { data: { list: [{ _id: '1' }] }, paging: { cursor: 'c', more: true } };
  const wire = { nextField: 'paging.cursor', hasNextField: 'paging.more' };
  expect(readPage(raw, 'GET /', 'data.list', wire)).toMatchObject({
    results: [{ _id: '1' }],
    next: 'c',
    hasNext: true,
  });
});

test.each([null, 'x', 5, {}, { results: {} }])('%j is no page', (raw) => {
  expect(() => readPage(raw, 'GET /v1/events', 'results', defaultWireNames)).toThrow(
    InvalidResponseError,
  );
});
