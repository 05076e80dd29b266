import { expect, test } from '@jest/globals';
import { SearchSyntaxError } from '../../src/errors/search-syntax-error.ts';

test('the position is in the message where there is one', () => {
  expect(new SearchSyntaxError('empty', 'to: needs a value', 0)).toMatchObject({
    message: 'to: needs a value (at position 0)',
    position: 0,
    reason: 'empty',
  });
  expect(new SearchSyntaxError('empty', 'to: needs a value').message).toBe('to: needs a value');
});
