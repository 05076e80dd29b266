import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import type { DeadLetter } from '@call-webhooks/core';
import { collectingLogger, queuedCall, waitFor } from '@call-webhooks/contract-tests';
import Database from 'libsql';
import { createSqliteWorker, sqliteDeadJobs, sqliteQueue, sqliteStore } from '../src/index.ts';
import { freshFile } from './support.ts';

/** A program of this folder, in a process of its own. */
function start(program: string, ...args: string[]) {
  const script = fileURLToPath(new URL(program, import.meta.url));
  const options = ['--import', 'tsx', '--conditions=@call-webhooks/source'];
  return spawn(process.execPath, [...options, script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Two of them at once write to the file, until each is killed after so many lines. */
async function untilKilled(file: string, name: string, lines: number): Promise<string[]> {
  const child = start('support-crash.ts', file, name);
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
});

it('hands a job that kills each of its processes to deadLetter, and does not begin it once more', async () => {
  const { file, remove } = freshFile();
  const db = new Database(file);
  const queue = sqliteQueue(db);
  const delivery = queuedCall('call-1');
  await queue.enqueue(delivery);
  db.exec('UPDATE call_webhooks_jobs SET attempt = 2, crashes = 1, token = 1'); // two deaths, to save time
  for (let death = 3; death <= 4; death++)
    expect(await once(start('support-killer.ts', file), 'exit')).toEqual([null, 'SIGKILL']);

  const letters: DeadLetter[] = [];
  let runs = 0;
  const worker = createSqliteWorker(queue, {
    maxRuns: 1,
    pollEvery: 20,
    logger: collectingLogger(),
    on: { 'call:completed': () => void (runs += 1) },
    deadLetter: (one) => void letters.push(one),
  });
  await waitFor(async () => (await queue.stats()).dead === 1);
  await worker.close();
  expect(runs).toBe(0);
  expect(letters).toEqual([
    expect.objectContaining({ key: delivery.key, attempt: 5, reason: 'handler-failed' }),
  ]);
  expect(String(letters[0]!.error)).toContain('process died in each of the last');
  expect((await sqliteDeadJobs(queue).list()).letters).toMatchObject([
    { key: delivery.key, attempt: 5 },
  ]);
  db.close();
  remove();
});
