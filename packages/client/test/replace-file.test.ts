import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { replaceFile } from '../src/index.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('a file is replaced as a whole, and only its owner may read it', async () => {
  const path = join(folder, 'secrets.json');
  await writeFile(path, 'old', { mode: 0o644 });
  await replaceFile(path, 'new');
  expect(await readFile(path, 'utf8')).toBe('new');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['secrets.json']);
});

test('what cannot be replaced stays, and nothing is left beside it', async () => {
  await expect(replaceFile(join(folder, 'no', 'where'), 'new')).rejects.toThrow('ENOENT');
  await expect(replaceFile(folder, 'new')).rejects.toThrow(/EISDIR|EEXIST|ENOTEMPTY|EPERM/);
  expect(await readdir(folder)).toEqual([]);
  const beside = await readdir(join(folder, '..'));
  expect(beside.filter((name) => name.startsWith(basename(folder)))).toEqual([basename(folder)]);
});
