import * as fs from 'node:fs/promises';
import { describe, expect, jest, test } from '@jest/globals';
import {
  ApiError,
  InvalidResponseError,
  NetworkError,
  UnsupportedRuntimeError,
} from '../../../src/errors/index.ts';
import type { OpenedRecording } from '../../../src/recordings/source.ts';
import { copy } from '../../../src/recordings/save/save-recording.ts';
import { fileSystem } from '../../../src/files/file-system.ts';
import type { PartFile } from '../../../src/recordings/save/part-file.ts';
import { isSame, type PartNote, validatorOf } from '../../../src/recordings/save/part-note.ts';
import { openRest, usableBytes } from '../../../src/recordings/save/resume.ts';
import type { RecordingSource, ResumePoint } from '../../../src/recordings/source.ts';

describe('copy', () => {
  function opened(total: number | undefined, start: number, ...pieces: string[]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
        controller.close();
      },
    });
    const unknown = { contentType: undefined, etag: undefined, lastModified: undefined };
    return { ...unknown, body, start, total, resumable: true };
  }

  function part() {
    const writes: [string, number][] = [];
    const write = async (bytes: Uint8Array, position: number): Promise<void> =>
      void writes.push([new TextDecoder().decode(bytes), position]);
    return { writes, file: { write } as PartFile };
  }

  test('writes each piece at its place, from the start of the part on', async () => {
    const { writes, file } = part();
    const advanced: number[] = [];
    const bytes = await copy(opened(9, 4, 'abc', 'de'), file, {}, (now) => advanced.push(now));
    expect(bytes).toBe(9);
    expect(writes).toEqual([
      ['abc', 4],
      ['de', 7],
    ]);
    expect(advanced).toEqual([4, 7, 9]);
  });

  test.each([
    ['shorter', 10],
    ['longer', 8],
  ])('a recording that is %s than announced is an error', async (_, total) => {
    const copying = copy(opened(total, 4, 'abcde'), part().file, {}, () => undefined);
    await expect(copying).rejects.toBeInstanceOf(NetworkError);
  });
});

describe('file-system', () => {
  test('finds the file system of the runtime', () => {
    expect(fileSystem().rename).toBe(fs.rename);
  });

  test('says so where there is none', () => {
    const replaced = jest.replaceProperty(globalThis, 'process', undefined as never);
    try {
      expect(() => fileSystem()).toThrow(UnsupportedRuntimeError);
    } finally {
      replaced.restore();
    }
  });
});

describe('part-note', () => {
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
});

describe('resume', () => {
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
});
