import { lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { ConfigurationError, NetworkError } from '../src/errors.ts';
import type { SaveProgress } from '../src/save-recording.ts';
import { caught } from './support/caught.ts';
import { testClient } from './support/client.ts';
import {
  content,
  etag,
  folder,
  isSaved,
  path,
  save,
  serve,
  useDownloads,
} from './support/downloads.ts';
import { withFullDisk } from './support/full-disk.ts';
import type { RecordingBehaviour } from './support/recording-server.ts';
import { startServer, type Handler, type TestServer } from './support/server.ts';

useDownloads();

describe('a download', () => {
  test('has every byte in its place where the system writes a few bytes at a time', async () => {
    const server = await serve();
    await withFullDisk(Infinity, () => save(server), 1_000);
    expect(await isSaved()).toBe(true);
  });

  test('writes the recording, for its owner alone, and leaves nothing else behind', async () => {
    const progress: SaveProgress[] = [];
    const result = await save(await serve(), { onProgress: (now) => progress.push(now) });
    expect(result).toEqual({ path, bytes: content.length });
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

  test('replaces a planted link, and does not write through it', async () => {
    const victim = join(folder, 'victim');
    await writeFile(victim, 'mine');
    await symlink(victim, path);
    await save(await serve());
    expect((await lstat(path)).isFile()).toBe(true);
    expect(await readFile(victim, 'utf8')).toBe('mine');
  });

  test('two at once to one path do not mix, whoever comes last', async () => {
    const server = await serve();
    await Promise.all([save(server), save(server)]);
    expect(await isSaved()).toBe(true);
    expect(await readdir(folder)).toEqual(['call.mp3']);
  });

  test('two of one recording: the second is refused', async () => {
    const recording = await testClient((await serve()).origin).calls.recording('c');
    const first = recording.saveTo(path);
    const second = await caught(recording.saveTo(join(folder, 'other')));
    expect(second).toBeInstanceOf(ConfigurationError);
    await first;
    expect(await isSaved()).toBe(true);
  });

  test('where there is no file system says so', async () => {
    const recording = await testClient((await serve()).origin).calls.recording('c');
    const { getBuiltinModule } = process;
    process.getBuiltinModule = undefined as never;
    try {
      expect(await caught(recording.saveTo(path))).toMatchObject({ code: 'unsupported-runtime' });
    } finally {
      process.getBuiltinModule = getBuiltinModule;
    }
  });
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

  test('by what onProgress throws or rejects with, or by an abort, is cleaned up', async () => {
    for (const stop of [
      () => {
        throw new Error('no more');
      },
      () => Promise.reject(new Error('no more')),
    ])
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

  test('the signal of the request ends it too, unless it has one of its own', async () => {
    const { calls } = testClient((await serve()).origin);
    const opened = new AbortController();
    const open = () => calls.recording('c', { signal: opened.signal });
    const onProgress = () => opened.abort(new Error('enough'));
    await expect((await open()).saveTo(path, { onProgress })).rejects.toThrow('enough');
    expect(await readdir(folder)).toEqual([]);
    const own = AbortSignal.abort(new Error('its own'));
    const another = await calls.recording('c');
    await expect(another.saveTo(path, { signal: own })).rejects.toThrow('its own');
    expect(await readdir(folder)).toEqual([]);
  });

  test.each([0o600, 0o640, 0o400])('a file gets the mode that is asked for: %d', async (mode) => {
    await save(await serve(), { mode });
    expect((await stat(path)).mode & 0o777).toBe(mode);
  });

  test('an onProgress that hangs does not keep an abort from ending it', async () => {
    const controller = new AbortController();
    const onProgress = async () => {
      controller.abort(new Error('enough'));
      await new Promise(() => undefined);
    };
    const saving = save(await serve(), { signal: controller.signal, onProgress });
    await expect(saving).rejects.toThrow('enough');
    expect(await readdir(folder)).toEqual([]);
  });

  test('because the folder is missing says so, and closes the connection', async () => {
    const recording = await testClient((await serve()).origin).calls.recording('c');
    await expect(recording.saveTo(join(folder, 'none', 'a'))).rejects.toMatchObject({
      code: 'ENOENT',
    });
    expect(recording.body.locked).toBe(false);
  });

  test('because the disk is full leaves nothing behind', async () => {
    const server = await serve();
    const error = await withFullDisk(100_000, () => caught(save(server)));
    expect(error).toMatchObject({ code: 'ENOSPC' });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('a connection that breaks', () => {
  const ranges = (server: TestServer) => server.requests.map(({ headers }) => headers.range);
  const rest = expect.stringMatching(/^bytes=\d+-$/) as unknown;

  test('is continued with the rest, on condition that nothing has changed', async () => {
    const server = await serve({ cuts: [200_000, 200_000] });
    expect(await save(server, {}, 3)).toEqual({ path, bytes: content.length });
    expect(await isSaved()).toBe(true);
    expect(ranges(server)).toEqual([undefined, rest, rest]);
    expect(server.requests.at(-1)?.headers['if-range']).toBe(etag);
  });

  test.each<[string, Partial<RecordingBehaviour>, unknown]>([
    ['without ranges', { ranges: false }, rest],
    ['with a date alone', { etag: undefined, lastModified: new Date(0).toUTCString() }, rest],
    ['with a weak ETag alone: it starts anew', { etag: 'W/"v1"' }, undefined],
    ['that nothing identifies: it starts anew', { etag: undefined, chunked: true }, undefined],
  ])('a service %s gives the same bytes', async (_, behaviour, second) => {
    const server = await serve({ ...behaviour, cuts: [300_000] });
    await save(server, {}, 1);
    expect(ranges(server)).toEqual([undefined, second]);
    expect(await isSaved()).toBe(true);
  });

  test('for ever is an error that leaves nothing behind', async () => {
    const server = await serve({ cuts: [1000, 1000, 1000, 1000] });
    expect(await caught(save(server, {}, 2))).toBeInstanceOf(NetworkError);
    expect(server.requests).toHaveLength(3);
    expect(await readdir(folder)).toEqual([]);
  });

  /** Breaks off the first answer, answers requests for the rest as `answer` does, and others whole. */
  async function brokenThen(
    answer: (
      start: number,
    ) => Parameters<Handler>[1] extends infer Response ? (response: Response) => void : never,
  ): Promise<TestServer> {
    const about = { etag, 'content-type': 'audio/mpeg', 'content-length': content.length };
    let first = true;
    return startServer(({ headers }, response) => {
      const start = Number(/^bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0);
      if (start > 0) answer(start)(response);
      else if (first)
        response
          .writeHead(200, about)
          .write(content.subarray(0, 300_000), () => response.destroy());
      else response.writeHead(200, about).end(content);
      first = false;
    });
  }

  test.each([
    ['shorter', 1_000],
    ['longer', 900_000],
  ])('before a recording that is %s now: the file has that one alone', async (_, length) => {
    const now = Buffer.alloc(length, 'new');
    let first = true;
    const server = await startServer((_request, response) => {
      const about = { 'content-type': 'audio/mpeg' };
      if (first) {
        response.writeHead(200, { ...about, 'content-length': content.length });
        response.write(content.subarray(0, 300_000), () => response.destroy());
      } else response.writeHead(200, { ...about, 'content-length': length }).end(now);
      first = false;
    });
    expect(await save(server, {}, 1)).toEqual({ path, bytes: length });
    expect((await readFile(path)).equals(now)).toBe(true);
    await server.close();
  });

  const part = (start: number, more: Record<string, string> = {}) => ({
    etag,
    'content-type': 'audio/mpeg',
    'content-range': `bytes ${start}-${content.length - 1}/${content.length}`,
    ...more,
  });

  test.each([
    ['whole', content.length],
    ['short', content.length - 1],
  ])('and a rest that does not say the size of all, and comes %s', async (_, end) => {
    const server = await brokenThen((start) => (to) => {
      to.writeHead(206, part(start, { 'content-range': `bytes ${start}-${end - 1}/*` }));
      to.write(content.subarray(start, end), () => to.end());
    });
    const totals = new Set<number | undefined>();
    const saving = save(server, { onProgress: ({ total }) => totals.add(total) }, 1);
    const outcome = await saving.catch((error: unknown) => (error as Error).message);
    expect([outcome, await readdir(folder)]).toEqual(
      end === content.length
        ? [{ path, bytes: content.length }, ['call.mp3']]
        : [`the recording has ${end} bytes, but ${content.length} were announced`, []],
    );
    expect([...totals]).toEqual([content.length]);
    await server.close();
  });

  test.each<[string, Parameters<typeof brokenThen>[0]]>([
    [
      'another version, whatever If-Range says',
      (start) => (to) => to.writeHead(206, part(start, { etag: '"v2"' })).end(Buffer.alloc(9)),
    ],
    [
      'one of another size',
      (start) => (to) =>
        to.writeHead(206, part(start, { 'content-range': `bytes ${start}-${start}/9` })).end('x'),
    ],
    [
      'a compressed rest',
      (start) => (to) =>
        to
          .writeHead(206, part(start, { 'content-encoding': 'gzip' }))
          .end(gzipSync(Buffer.alloc(9))),
    ],
    ['416', () => (to) => to.writeHead(416).end()],
    ['another part', (start) => (to) => to.writeHead(206, part(start + 1)).end('x')],
  ])('a rest that comes as %s is not appended: the whole is fetched again', async (_, answer) => {
    const server = await brokenThen(answer);
    await save(server, {}, 2);
    expect(ranges(server)).toEqual([undefined, rest, undefined]);
    expect(await isSaved()).toBe(true);
    await server.close();
  });
});
