import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { NetworkError } from '../../../src/errors/index.ts';
import type { SaveProgress } from '../../../src/recordings/save/options.ts';
import { caught } from '../../support/caught.ts';
import { testClient } from '../../support/client.ts';
import {
  content,
  folder,
  isSaved,
  path,
  save,
  serve,
  useDownloads,
} from '../../support/downloads.ts';

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
