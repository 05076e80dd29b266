import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { startSimulator } from '@call-webhooks/simulator';
import { testResources } from './support/test-resources.ts';

const open = testResources();
const FLAGS = ['--import', 'tsx', '--conditions=@call-webhooks/source'];
const BUSY = fileURLToPath(new URL('support/busy-simulator.ts', import.meta.url));

/** Runs a busy simulator, and kills it in the middle of a write; gives what it had written for sure. */
async function killedWhileWriting(db: string): Promise<number> {
  const child = spawn(process.execPath, [...FLAGS, BUSY, db], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  while (output === '') await once(child.stdout, 'data');
  const second = startSimulator({ db });
  await expect(second).rejects.toMatchObject({
    code: 'db-in-use',
    message: expect.stringContaining(`process ${String(child.pid)} on`),
  });
  while (!existsSync(`${db}.new`)) {
    if (child.exitCode !== null) throw new Error('It ended by itself.');
    await new Promise((resolve) => setImmediate(resolve));
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
  return Number(output.trim().split('\n').at(-1));
}

test('after kill -9 in the middle of a write, the file is whole and holds what was written', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-'));
  const db = join(folder, 'state.db');
  try {
    for (let round = 1; round <= 2; round++) {
      const written = await killedWhileWriting(db);
      // The lock of a process that was killed is none.
      expect(existsSync(`${db}.lock`)).toBe(true);
      const simulator = await open.simulator({ db });
      expect(simulator.calls.list().length).toBeGreaterThanOrEqual(written);
      expect(simulator.messages.list()).toHaveLength(4_000 * round);
      await simulator.close();
      expect(await readdir(folder)).toEqual(['state.db']);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

// Jest hides warnings.
test('many attempts that listen for the end are not reported as a leak', () => {
  const program = `
    import { createStop } from '${new URL('../src/deliveries/attempt-delivery.ts', import.meta.url).href}';
    const { signal } = createStop();
    for (let attempt = 0; attempt < 50; attempt++) signal.addEventListener('abort', () => attempt);
    process.on('warning', () => process.exit(1));`;
  const flags = [...FLAGS, '--input-type=module'];
  execFileSync(process.execPath, [...flags, '-e', program], { stdio: 'pipe' });
});
