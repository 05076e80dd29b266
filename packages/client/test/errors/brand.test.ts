import { describe, expect, test } from '@jest/globals';
import { brand } from '../../src/errors/brand.ts';
import { ApiError, ClientError, NetworkError } from '../../src/errors/index.ts';

function copyOf(name: string): new () => Error {
  class Copy extends Error {}
  brand(Copy, name);
  return Copy;
}

describe('instanceof', () => {
  test('holds between copies of a class, both ways', () => {
    const Copy = copyOf('ApiError');
    const original = new ApiError({ method: 'GET', path: '/', status: 500 });
    expect(new Copy()).toBeInstanceOf(ApiError);
    expect(original).toBeInstanceOf(Copy);
    expect(original).not.toBeInstanceOf(copyOf('NetworkError'));
  });

  test('follows inheritance', () => {
    const error = new NetworkError('x', { maybeSent: true });
    expect(error).toBeInstanceOf(ClientError);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(ApiError);
  });

  test('stays exact for classes that users derive', () => {
    class Mine extends NetworkError {}
    expect(new Mine('x', { maybeSent: true })).toBeInstanceOf(Mine);
    expect(new Mine('x', { maybeSent: true })).toBeInstanceOf(NetworkError);
    expect(new NetworkError('x', { maybeSent: true })).not.toBeInstanceOf(Mine);
  });

  test.each([undefined, null, 'ApiError', 1, {}, () => 1])('is false for %p', (value) => {
    expect(value instanceof ApiError).toBe(false);
  });
});

test('the name is printed, and is not an own property', () => {
  const error = new NetworkError('gone', { maybeSent: false });
  expect(String(error)).toBe('NetworkError: gone');
  expect(Object.keys(error)).not.toContain('name');
});
