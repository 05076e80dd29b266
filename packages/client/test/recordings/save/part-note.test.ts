import { expect, test } from '@jest/globals';
import { isSame, validatorOf, type PartNote } from '../../../src/recordings/save/part-note.ts';

const note = (more: Partial<PartNote>): PartNote => ({
  id: '/v1/calls/c/recording',
  total: undefined,
  etag: undefined,
  lastModified: undefined,
  ...more,
});

test('If-Range holds a strong ETag, or else the date', () => {
  expect(validatorOf(note({ etag: '"e"', lastModified: 'then' }))).toBe('"e"');
  expect(validatorOf(note({ etag: 'W/"e"', lastModified: 'then' }))).toBe('then');
  expect(validatorOf(note({ etag: 'W/"e"' }))).toBeUndefined();
});

test.each([
  [{ total: 9 }, { total: 9 }, true],
  [{ etag: '"e"' }, { etag: '"e"' }, true],
  [{ total: 9, etag: '"e"' }, { total: 9, etag: '"f"' }, false],
  [{ total: 9 }, { total: 8 }, false],
  [{ total: 9, lastModified: 'then' }, { total: 9 }, false],
  [{ total: 9 }, { total: 9, id: '/v1/calls/d/recording' }, false],
  [{}, {}, false],
])('%j and %j: the same is %p', (a, b, same) => {
  expect(isSame(note(a), note(b))).toBe(same);
});
