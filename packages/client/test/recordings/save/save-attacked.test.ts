import * as fs from 'node:fs/promises';
import { chmod, lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, jest, test } from '@jest/globals';
import {
  ApiError,
  ConfigurationError,
  InvalidResponseError,
  NetworkError,
  UnsupportedRuntimeError,
} from '../../../src/errors/index.ts';
import { fileSystem } from '../../../src/files/file-system.ts';
import type { PartFile } from '../../../src/recordings/save/part-file.ts';
import { isSame, type PartNote, validatorOf } from '../../../src/recordings/save/part-note.ts';
import { openRest, usableBytes } from '../../../src/recordings/save/resume.ts';
import { copy } from '../../../src/recordings/save/save-recording.ts';
import type {
  OpenedRecording,
  RecordingSource,
  ResumePoint,
} from '../../../src/recordings/source.ts';
import { caught } from '../../support/caught.ts';
import { testClient } from '../../support/client.ts';
import {
  content,
  etag,
  folder,
  isSaved,
  path,
  save,
  serve,
  useDownloads,
} from '../../support/downloads.ts';
import { withFullDisk } from '../../support/full-disk.ts';
import { startServer } from '../../support/server.ts';

describe('a download that is attacked', () => {
  useDownloads();

  const resume = true;

  describe('a planted link', () => {
    test('is not written through: not the part, not its note, not the final name', async () => {
      const victim = join(folder, 'victim');
      await writeFile(victim, 'mine');
      await symlink(victim, `${path}.part`);
      expect(await caught(save(await serve(), { resume }))).toMatchObject({ code: 'ELOOP' });
      await symlink(victim, join(folder, 'b.part.json'));
      const recording = await testClient((await serve()).origin).calls.recording('c');
      await recording.saveTo(join(folder, 'b'), { resume });
      await symlink(victim, join(folder, 'd'));
      const other = await testClient((await serve()).origin).calls.recording('c');
      await other.saveTo(join(folder, 'd'));
      expect((await lstat(join(folder, 'd'))).isFile()).toBe(true);
      expect(await readFile(victim, 'utf8')).toBe('mine');
    });

    test('an old part that others may read is narrowed to the mode that was asked for', async () => {
      await writeFile(`${path}.part`, 'old');
      await chmod(`${path}.part`, 0o666);
      await save(await serve(), { resume });
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    });
  });

  describe('two at once', () => {
    test('to one path with resume: the second is refused, the first is whole', async () => {
      const server = await serve();
      const first = save(server, { resume });
      const started = save(server, { resume, onProgress: () => undefined });
      const results = await Promise.allSettled([first, started]);
      const refused = results.filter((result) => result.status === 'rejected');
      expect(refused).toHaveLength(1);
      expect(refused[0]?.reason).toBeInstanceOf(ConfigurationError);
      expect(await isSaved()).toBe(true);
      // The path is free again afterwards.
      await save(server, { resume });
    });

    test('to one path without resume: each writes a part of its own', async () => {
      const server = await serve();
      await Promise.all([save(server), save(server)]);
      expect(await isSaved()).toBe(true);
      expect(await readdir(folder)).toEqual(['call.mp3']);
    });

    test('of one recording: the second is refused', async () => {
      const recording = await testClient((await serve()).origin).calls.recording('c');
      const first = recording.saveTo(path);
      expect(await caught(recording.saveTo(join(folder, 'other')))).toBeInstanceOf(
        ConfigurationError,
      );
      await first;
      expect(await isSaved()).toBe(true);
    });
  });

  test('a rest that comes compressed is not appended', async () => {
    await caught(save(await serve({ cuts: [300_000] }), { resume }));
    const asked: unknown[] = [];
    const server = await startServer(({ headers }, response) => {
      asked.push(headers.range);
      const start = Number(/^bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0);
      const about = { etag, 'content-type': 'audio/mpeg' };
      if (start === 0) {
        response.writeHead(200, { ...about, 'content-length': content.length }).end(content);
        return;
      }
      const range = `bytes ${start}-${content.length - 1}/${content.length}`;
      const packed = gzipSync(Buffer.alloc(content.length - start, 7));
      response
        .writeHead(206, { ...about, 'content-range': range, 'content-encoding': 'gzip' })
        .end(packed);
    });
    try {
      await save(server, { resume });
      expect(asked).toEqual([undefined, expect.stringMatching(/^bytes=\d+-$/), undefined]);
      expect(await isSaved()).toBe(true);
    } finally {
      await server.close();
    }
  });

  test('what an asynchronous onProgress rejects with ends the download', async () => {
    const onProgress = () => Promise.reject(new Error('no more'));
    await expect(save(await serve(), { onProgress })).rejects.toThrow('no more');
    expect(await readdir(folder)).toEqual([]);
  });

  describe('a full disk', () => {
    test('is an error that leaves nothing behind', async () => {
      const server = await serve();
      const error = await withFullDisk(100_000, () => caught(save(server)));
      expect(error).toMatchObject({ code: 'ENOSPC' });
      expect(await readdir(folder)).toEqual([]);
    });

    test('keeps what fitted when it may be resumed, and goes on when there is room', async () => {
      const server = await serve();
      const error = await withFullDisk(100_000, () => caught(save(server, { resume })));
      expect(error).toMatchObject({ code: 'ENOSPC' });
      expect(await readdir(folder)).toEqual(['call.mp3.part', 'call.mp3.part.json']);
      const { resumedFrom } = await save(server, { resume });
      expect(resumedFrom).toBe(100_000);
      expect(await isSaved()).toBe(true);
    });
  });

  test('a body whose source hangs in cancel does not hang saveTo', async () => {
    await caught(save(await serve({ cuts: [300_000] }), { resume }));
    const server = await serve();
    let stuck = 0;
    const fetch = async (url: string, init: { headers: Record<string, string> }) => {
      const response = await globalThis.fetch(url, init);
      if (init.headers['range'] !== undefined) return response;
      const cancel = (): Promise<void> => (stuck++, new Promise(() => undefined));
      return new Response(new ReadableStream({ cancel }), response);
    };
    const recording = await testClient(server.origin, { fetch }).calls.recording('c');
    await recording.saveTo(path, { resume });
    expect(stuck).toBe(1);
    expect(await isSaved()).toBe(true);
  });
});

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
