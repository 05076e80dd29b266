import * as fs from 'node:fs/promises';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { NetworkError } from '../../../src/errors/index.ts';
import type { SaveProgress } from '../../../src/recordings/save/options.ts';
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
import type { RecordingBehaviour } from '../../support/recording-server.ts';
import type { TestServer } from '../../support/server.ts';

describe('a download', () => {
  useDownloads();

  test('writes the recording, for its owner alone, and leaves nothing else behind', async () => {
    const progress: SaveProgress[] = [];
    const result = await save(await serve(), { onProgress: (now) => progress.push(now) });
    expect(result).toEqual({ path, bytes: content.length, resumedFrom: 0 });
    expect(await isSaved()).toBe(true);
    expect(await readdir(folder)).toEqual(['call.mp3']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(progress[0]).toEqual({ received: 0, total: content.length });
    expect(progress.at(-1)).toEqual({ received: content.length, total: content.length });
    const received = progress.map((now) => now.received);
    expect(received).toEqual([...received].sort((a, b) => a - b));
  });

  test('writes an empty one, one of unknown length, and over a file that is there', async () => {
    expect(await save(await serve({ content: Buffer.alloc(0) }))).toMatchObject({ bytes: 0 });
    expect((await stat(path)).size).toBe(0);
    await save(await serve({ chunked: true }));
    expect(await isSaved()).toBe(true);
  });

  describe('a download that fails', () => {
    test.each([false, true])(
      'by truncation leaves no file under the final name (chunked: %p)',
      async (chunked) => {
        const error = await caught(save(await serve({ cuts: [300_000], chunked })));
        expect(error).toBeInstanceOf(NetworkError);
        expect(await readdir(folder)).toEqual([]);
      },
    );

    test('leaves the file that was there before', async () => {
      await writeFile(path, 'before');
      await caught(save(await serve({ cuts: [300_000] })));
      expect(await readFile(path, 'utf8')).toBe('before');
      expect(await readdir(folder)).toEqual(['call.mp3']);
    });

    test('by what onProgress throws, or by an abort, is cleaned up', async () => {
      const stop = (): never => {
        throw new Error('no more');
      };
      await expect(save(await serve(), { onProgress: stop })).rejects.toThrow('no more');
      const controller = new AbortController();
      const onProgress = ({ received }: SaveProgress): void => {
        if (received > 0) controller.abort(new Error('enough'));
      };
      await expect(save(await serve(), { onProgress, signal: controller.signal })).rejects.toThrow(
        'enough',
      );
      await expect(save(await serve(), { signal: controller.signal })).rejects.toThrow('enough');
      expect(await readdir(folder)).toEqual([]);
    });

    test('because the folder is missing says so, and closes the connection', async () => {
      const recording = await testClient((await serve()).origin).calls.recording('c');
      await expect(recording.saveTo(join(folder, 'none', 'a'))).rejects.toMatchObject({
        code: 'ENOENT',
      });
      expect(recording.body.locked).toBe(false);
    });
  });
});

describe('with resume', () => {
  useDownloads();

  const ranges = (server: TestServer) => server.requests.map(({ headers }) => headers.range);

  const resume = true;

  test('an aborted download is continued to the same bytes', async () => {
    const server = await serve();
    const controller = new AbortController();
    const onProgress = ({ received }: SaveProgress): void => {
      if (received > 100_000) controller.abort(new Error('enough'));
    };
    await expect(save(server, { resume, onProgress, signal: controller.signal })).rejects.toThrow(
      'enough',
    );
    expect(await readdir(folder)).toEqual(['call.mp3.part', 'call.mp3.part.json']);
    const { size } = await stat(`${path}.part`);
    expect(size).toBeGreaterThan(100_000);
    const result = await save(server, { resume });
    expect(result).toEqual({ path, bytes: content.length, resumedFrom: size });
    expect(ranges(server)).toEqual([undefined, undefined, `bytes=${size}-`]);
    expect(server.requests.at(-1)?.headers['if-range']).toBe(etag);
    expect(await isSaved()).toBe(true);
    expect(await readdir(folder)).toEqual(['call.mp3']);
  });

  test('a broken connection is continued within the call', async () => {
    const server = await serve({ cuts: [200_000, 200_000] });
    const result = await save(server, { resume }, 3);
    expect(result).toEqual({ path, bytes: content.length, resumedFrom: 0 });
    expect(await isSaved()).toBe(true);
    expect(server.requests).toHaveLength(3);
    expect(
      ranges(server)
        .slice(1)
        .every((range) => /^bytes=\d+-$/.test(range ?? '')),
    ).toBe(true);
  });

  test('what nothing identifies starts anew within the call', async () => {
    const server = await serve({ etag: undefined, chunked: true, cuts: [200_000] });
    await save(server, { resume }, 1);
    expect(ranges(server)).toEqual([undefined, undefined]);
    expect(await isSaved()).toBe(true);
  });

  test('a connection that breaks for ever is an error, and the part is kept', async () => {
    const server = await serve({ cuts: [1000, 1000, 1000, 1000] });
    expect(await caught(save(server, { resume }, 2))).toBeInstanceOf(NetworkError);
    expect(server.requests).toHaveLength(3);
    expect(await readdir(folder)).toEqual(['call.mp3.part', 'call.mp3.part.json']);
  });

  test.each<[string, Partial<RecordingBehaviour>]>([
    ['without ranges', { ranges: false }],
    [
      'with a date instead of an ETag',
      { etag: undefined, lastModified: 'Thu, 01 Jan 2026 00:00:00 GMT' },
    ],
    ['with neither', { etag: undefined }],
    ['with a weak ETag', { etag: 'W/"v1"' }],
  ])('a service %s gives the same bytes', async (_, behaviour) => {
    await caught(save(await serve({ ...behaviour, cuts: [300_000] }), { resume }));
    await save(await serve(behaviour), { resume });
    expect(await isSaved()).toBe(true);
  });

  test.each([true, false])(
    'a recording that has changed is fetched anew (If-Range ignored: %p)',
    async (ignoreIfRange) => {
      const old = Buffer.alloc(content.length, 7);
      await caught(save(await serve({ content: old, etag: '"v0"', cuts: [300_000] }), { resume }));
      const result = await save(await serve({ ignoreIfRange }), { resume });
      expect(result.resumedFrom).toBe(0);
      expect(await isSaved()).toBe(true);
    },
  );

  test('a part that is whole is renamed, one that is too long is fetched anew', async () => {
    for (const [extra, resumedFrom] of [
      [0, content.length],
      [5, 0],
    ] as const) {
      await caught(save(await serve({ cuts: [300_000] }), { resume }));
      await writeFile(`${path}.part`, Buffer.concat([content, Buffer.alloc(extra)]));
      const server = await serve();
      expect(await save(server, { resume })).toEqual({ path, bytes: content.length, resumedFrom });
      expect(ranges(server)).toEqual([undefined]);
      expect(await isSaved()).toBe(true);
    }
  });

  test('a part without a readable note is not trusted', async () => {
    await writeFile(`${path}.part`, 'something else');
    await writeFile(`${path}.part.json`, '{');
    expect(await save(await serve(), { resume })).toMatchObject({ resumedFrom: 0 });
    expect(await isSaved()).toBe(true);
  });
});

describe('a download that is aborted', () => {
  useDownloads();

  const resume = true;

  test.each(['anew', 'to continue it', 'of what is there as a whole'])(
    'an onProgress that hangs does not keep an abort from ending a download: %s',
    async (how) => {
      if (how === 'of what is there as a whole') {
        await caught(save(await serve({ cuts: [300_000] }), { resume }));
        await fs.writeFile(`${path}.part`, content);
      }
      const controller = new AbortController();
      const onProgress = async () => {
        controller.abort(new Error('enough'));
        await new Promise(() => undefined);
      };
      const options = { resume: how !== 'anew', signal: controller.signal, onProgress };
      await expect(save(await serve(), options)).rejects.toThrow('enough');
      expect(await fs.readdir(folder)).not.toContain('call.mp3.part.lock');
      await save(await serve(), { resume });
      expect(await isSaved()).toBe(true);
    },
  );
});
