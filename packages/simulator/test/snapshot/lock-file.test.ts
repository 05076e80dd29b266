import * as fs from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { currentProcess, lockFile } from '../../src/snapshot/lock-file.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'lock-'));
  path = join(folder, 'lock');
});
afterEach(() => fs.rm(folder, { recursive: true }));

const leave = async (more: object) =>
  fs.writeFile(path, JSON.stringify({ ...(await currentProcess()), ...more }));

/** Takes the lock, which must be free, and leaves nothing behind. */
async function takeAndRelease(): Promise<void> {
  const { release } = await lockFile(path);
  expect(release).toBeDefined();
  await release?.();
  expect(await fs.readdir(folder)).toEqual([]);
}

test('is held by one at a time, and is free again afterwards', async () => {
  const { release } = await lockFile(path);
  expect((await lockFile(path)).holder).toMatchObject({ pid: process.pid, host: hostname() });
  await release?.();
  await takeAndRelease();
});

test('of another machine, which nothing here can ask, holds', async () => {
  await leave({ host: 'elsewhere', pid: 2 ** 22 + 1 });
  expect((await lockFile(path)).holder).toMatchObject({ host: 'elsewhere' });
});

test('of a process that is gone does not hold', async () => {
  await leave({ pid: 2 ** 22 + 1 });
  await takeAndRelease();
});

test('of a number that another process has now does not hold', async () => {
  // Where the system does not say when a process was started, the number alone must count.
  if ((await currentProcess()).startedAt === undefined) return;
  await leave({ startedAt: '1' });
  await takeAndRelease();
});

test.each(['', 'nonsense', '{}', 'null'])('with %j in it does not hold', async (text) => {
  await fs.writeFile(path, text);
  await takeAndRelease();
});

test('that was left behind is taken over by one of many', async () => {
  for (let round = 0; round < 20; round++) {
    await leave({ pid: 2 ** 22 + 1 });
    const locks = await Promise.all(Array.from({ length: 10 }, () => lockFile(path)));
    expect(locks.filter(({ release }) => release)).toHaveLength(1);
    expect(await fs.readdir(folder)).toEqual(['lock']);
  }
});

test('a folder, or a link to nothing, is no lock, and is told', async () => {
  await fs.symlink(join(folder, 'nothing'), path);
  await expect(lockFile(path)).rejects.toThrow("can't be used as a lock: remove it");
});
