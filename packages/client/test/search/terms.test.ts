import { expect, test } from '@jest/globals';
import { withOperator } from '../../src/search/terms.ts';

test.each([
  ['a@b', 'email'],
  ['ann@example.com', 'email'],
  ['a@b@c', 'name'],
  ['@example.com', 'name'],
  ['ann lee@example.com', 'name'],
  ['example.com', 'domain'],
  ['mail.example.co.uk', 'domain'],
  ['bücher.example', 'domain'],
  ['ann', 'name'],
  ['J. Doe', 'name'],
  ['J.', 'name'],
])('to:%s is read as %s', (value, kind) => {
  expect(withOperator({ to: [] }, 'to', value).to).toEqual([{ kind, value }]);
});

test('leaves the given tree alone', () => {
  const tree = Object.freeze({ to: Object.freeze([]) });
  expect(withOperator(tree, 'type', 'opened')).toEqual({ to: [], type: 'opened' });
  expect(tree).toEqual({ to: [] });
});
