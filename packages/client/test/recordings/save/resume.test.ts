import { expect, test } from '@jest/globals';
import { ApiError, InvalidResponseError } from '../../../src/errors/index.ts';
import type { OpenedRecording } from '../../../src/recordings/opened.ts';
import { openRest, usableBytes } from '../../../src/recordings/save/resume.ts';
import type { RecordingSource, ResumePoint } from '../../../src/recordings/source.ts';

const note = { id: '/c', total: 9, etag: '"e"', lastModified: undefined };

test('bytes are kept only when they belong to the same recording', () => {
  expect(usableBytes(4, note, note, true)).toBe(4);
  expect(usableBytes(9, note, note, true)).toBe(9);
  expect(usableBytes(10, note, note, true)).toBe(0);
  expect(usableBytes(4, note, note, false)).toBe(0);
  expect(usableBytes(4, undefined, note, true)).toBe(0);
  expect(usableBytes(4, { ...note, etag: '"f"' }, note, true)).toBe(0);
});

function source(part: Partial<OpenedRecording>) {
  const asked: (ResumePoint | undefined)[] = [];
  const opened = { total: 9, etag: undefined, lastModified: undefined, contentType: undefined };
  const open: RecordingSource['open'] = async (_, from) => {
    asked.push(from);
    const body = new ReadableStream<Uint8Array>();
    const more = from === undefined ? { start: 0 } : part;
    return { ...opened, start: 4, resumable: true, body, ...more };
  };
  return {
    asked,
    source: { id: '/c', open, delay: () => undefined, pause: async () => undefined },
  };
}

test('asks for the rest, on condition that nothing has changed', async () => {
  const { asked, source: from } = source({});
  expect(await openRest(from, 4, note, undefined)).toMatchObject({ start: 4, total: 9 });
  expect(asked).toEqual([{ start: 4, validator: '"e"' }]);
});

test('a part of something else is not taken, even if the service sends it', async () => {
  for (const part of [{ etag: '"f"' }, { total: 10 }]) {
    const { asked, source: from } = source(part);
    expect(await openRest(from, 4, note, undefined)).toMatchObject({ start: 0 });
    expect(asked).toEqual([{ start: 4, validator: '"e"' }, undefined]);
  }
});

test('a part that was not asked for is an error', async () => {
  const { source: from } = source({ start: 5 });
  await expect(openRest(from, 4, note, undefined)).rejects.toBeInstanceOf(InvalidResponseError);
});

test('a range that the service cannot give (416) leads to the whole recording', async () => {
  const { source: from } = source({});
  const asked: unknown[] = [];
  const open: RecordingSource['open'] = async (signal, range) => {
    asked.push(range);
    if (range) throw new ApiError({ method: 'GET', path: '/c', status: 416 });
    return from.open(signal);
  };
  expect(await openRest({ ...from, open }, 4, note, undefined)).toMatchObject({ start: 0 });
  expect(asked).toEqual([{ start: 4, validator: '"e"' }, undefined]);
  const failing = async (): Promise<never> => {
    throw new ApiError({ method: 'GET', path: '/c', status: 403 });
  };
  await expect(openRest({ ...from, open: failing }, 4, note, undefined)).rejects.toThrow('403');
});
