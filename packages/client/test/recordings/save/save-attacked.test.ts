import { chmod, lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { ConfigurationError } from '../../../src/errors/index.ts';
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
