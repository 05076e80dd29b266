import { describe, expect, test } from '@jest/globals';
import { InvalidResponseError } from '../../src/errors/index.ts';
import { readOpened } from '../../src/recordings/source.ts';

describe('readOpened', () => {
  function opened(status: number, headers: Record<string, string>, asked = status === 206) {
    const response = new Response('x', { status, headers });
    return readOpened({ response, body: response.body! }, asked);
  }

  test('reads a whole recording', () => {
    const headers = {
      'content-length': '9',
      'content-type': 'audio/wav',
      etag: '"e"',
      'last-modified': 'then',
    };
    expect(opened(200, headers)).toMatchObject({
      start: 0,
      total: 9,
      contentType: 'audio/wav',
      etag: '"e"',
      lastModified: 'then',
      resumable: true,
    });
  });

  test('reads a part, with and without its total', () => {
    expect(opened(206, { 'content-range': 'bytes 4-8/9' })).toMatchObject({ start: 4, total: 9 });
    expect(opened(206, { 'content-range': 'bytes 4-8/*' })).toMatchObject({
      start: 4,
      total: undefined,
    });
  });

  test.each([{}, { 'content-range': 'bytes */9' }, { 'content-range': 'items 0-1/2' }])(
    'a part with %j is not readable',
    (headers) => {
      expect(() => opened(206, headers as Record<string, string>)).toThrow(InvalidResponseError);
    },
  );

  test('a part that was not asked for is refused: it could be taken for the whole', () => {
    expect(() => opened(206, { 'content-range': 'bytes 4-8/9' }, false)).toThrow(
      'when the whole was requested',
    );
  });

  test('what is compressed or served without ranges cannot be resumed', () => {
    expect(opened(200, { 'content-encoding': 'gzip', 'content-length': '3' })).toMatchObject({
      resumable: false,
      total: undefined,
    });
    expect(opened(200, { 'accept-ranges': 'none' }).resumable).toBe(false);
  });
});
