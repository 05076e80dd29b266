import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import Database from 'libsql';
import { sqliteQueue, sqliteStore } from '../src/index.ts';
import { freshFile } from './support.ts';

/** Two of them at once write to the file, until each is killed after so many lines. */
async function untilKilled(file: string, name: string, lines: number): Promise<string[]> {
  const script = fileURLToPath(new URL('support-crash.ts', import.meta.url));
  const options = ['--import', 'tsx', '--conditions=@call-webhooks/source'];
  const child = spawn(process.execPath, [...options, script, file, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (output.split('\n').length > lines) child.kill('SIGKILL');
  });
  expect(await ended).toEqual([null, 'SIGKILL']);
  return output.split('\n').slice(0, -1);
}

it('keeps everything that it acknowledged when its processes are killed', async () => {
  const { file, remove } = freshFile();
  const acknowledged = (
    await Promise.all([untilKilled(file, 'one', 40), untilKilled(file, 'two', 71)])
  ).flat();
  expect(acknowledged.length).toBeGreaterThanOrEqual(111);

  const db = new Database(file);
  const store = sqliteStore(db);
  const queue = sqliteQueue(db);
  const before = await queue.stats();
  for (const line of acknowledged) {
    const [key = '', what] = line.split(' ');
    if (what === 'queued') {
      await queue.enqueue({ webhookId: 'new', timestamp: 1, receivedAt: 1, key, body: '' });
      continue;
    }
    const again = { webhookId: `again ${key}`, replayUntil: Date.now() + 600_000, leaseMs: 60_000 };
    expect(await store.admit({ ...again, key, token: 'other' })).toEqual({ status: 'duplicate' });
    expect(
      await store.admit({ ...again, webhookId: `webhook ${key}`, key, token: 'other' }),
    ).toEqual({ status: 'replayed' });
  }
  expect(await queue.stats()).toEqual(before); // all of them were there
  db.close();
  remove();
}, 30_000);
