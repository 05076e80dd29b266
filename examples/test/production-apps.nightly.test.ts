import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { deadLetter, freePort } from '@call-webhooks/contract-tests';
import { describeWithProgram } from '@call-webhooks/contract-tests/describe-with-program';
import { postgresBinaries, startPostgres } from '@call-webhooks/contract-tests/servers/postgres';
import { redisServer } from '@call-webhooks/contract-tests/servers/redis';
import { sqliteDeadLetters } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { folderOf, startProgram, startReceiver } from './running-app.ts';

const postgres = { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' };
const fromSources = { ...process.env, NODE_OPTIONS: '--conditions=@call-webhooks/source' };

let folder: string;
let SQLITE_FILE: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'example-'));
  SQLITE_FILE = join(folder, 'calls.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Checks that an app remembers events over a crash, and ends by itself when it is told to. */
async function remembers(example: string, env: Partial<NodeJS.ProcessEnv>): Promise<void> {
  const first = await startReceiver(example, 'server.ts', env);
  expect(await first.call('c1')).toBe('handled');
  expect(await first.recording('c1')).toBe('handled');
  expect(await first.end('SIGKILL')).toBe('SIGKILL');

  const second = await startReceiver(example, 'server.ts', env);
  expect(await second.call('c1')).toBe('duplicate');
  expect(await second.recording('c1')).toBe('duplicate');
  expect(await second.call('c2')).toBe('handled');
  expect(await second.end('SIGTERM')).toBe(0);
  expect(second.output()).toContain('closed');
}

/** Checks that jobs outlive the processes, and that the worker runs them. */
async function queues(env: Partial<NodeJS.ProcessEnv>): Promise<void> {
  const receiver = await startReceiver('worker', 'receiver.ts', env);
  expect(await receiver.call('c1')).toBe('queued');
  expect(await receiver.recording('c1')).toBe('queued');
  expect(await receiver.end('SIGKILL')).toBe('SIGKILL');

  const worker = startProgram('worker', 'worker.ts', env);
  await worker.printed(/"callId":"c1".*"msg":"call completed"/);
  await worker.printed(/"callId":"c1".*"msg":"recording available"/);
  const again = await startReceiver('worker', 'receiver.ts', env);
  expect(await again.call('c1')).toBe('duplicate');
  expect(await again.end('SIGTERM')).toBe(0);
  expect(await worker.end('SIGINT')).toBe(0);
  expect(worker.output()).toContain('closed');
}

describe.each([
  ['express', 'server.ts'],
  ['fastify', 'server.ts'],
  ['worker', 'receiver.ts'],
])('examples/%s', (example, file) => {
  it.each(['test', 'typecheck'])('npm run %s', async (script) => {
    // Types are checked as for a user: with those of the build.
    const args = ['run', '--silent', script];
    await promisify(execFile)('npm', args, { cwd: folderOf(example), env: fromSources });
  });

  it('dev.ts: the local service signs with separate secrets', async () => {
    const SIMULATOR_PORT = String(await freePort());
    const app = await startReceiver(example, 'dev.ts', { SQLITE_FILE, SIMULATOR_PORT });
    const placed = await fetch(`http://127.0.0.1:${SIMULATOR_PORT}/_sim/calls`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"durationSeconds":1}',
    });
    expect(placed.status).toBe(201);
    for (const message of ['call started', 'call completed', 'recording available'])
      await app.printed(new RegExp(message));
    expect(app.output()).not.toContain('signature-mismatch');
    expect(await app.end('SIGINT')).toBe(0);
  });

  it('says 503 on other paths, and whether it is ready', async () => {
    const app = await startReceiver(example, file, { SQLITE_FILE });
    expect(await app.status('/health')).toBe(200);
    expect(await app.status('/ready')).toBe(200);
    for (const path of ['/', '/hoook', '/hooks/x', '/HOOK%2F'])
      expect({ path, status: await app.status(path, 'POST') }).toEqual({ path, status: 503 });
    expect(await app.end('SIGINT')).toBe(0);
  });

  it('ends with 1 where the port is in use, and names a secret that is missing', async () => {
    const app = await startReceiver(example, file, { SQLITE_FILE });
    const busy = startProgram(example, file, {
      SQLITE_FILE: join(folder, 'b.db'),
      PORT: app.port,
    });
    expect(await busy.exited).toBe(1);
    expect(busy.output()).toContain('EADDRINUSE');
    const env = { SQLITE_FILE, RECORDING_WEBHOOK_SECRET: '' };
    const keyless = startProgram(example, file, env);
    expect(await keyless.exited).toBe(1);
    expect(keyless.output()).toContain('RECORDING_WEBHOOK_SECRET is not set');
    await app.end('SIGTERM');
  });
});

it.each(['express', 'fastify'])('examples/%s remembers events in a file', async (example) => {
  await remembers(example, { SQLITE_FILE });
});

it.each(['express', 'fastify'])('examples/%s redrives what failed for good', async (example) => {
  const db = new Database(SQLITE_FILE);
  const deadLetters = sqliteDeadLetters(db);
  await deadLetters.put(deadLetter());
  const redrive = startProgram(example, 'redrive.ts', { SQLITE_FILE });
  expect(await redrive.exited).toBe(0);
  expect(redrive.output()).toMatch(/"handled":1.*"msg":"redriven"/);
  expect(await deadLetters.count()).toBe(0);
  db.close();
});

it('examples/worker keeps jobs in a file', async () => {
  await queues({ SQLITE_FILE });
});

describeWithProgram(postgres, 'examples/express with DATABASE_URL', () => {
  it('remembers events in Postgres', async () => {
    const server = await startPostgres();
    try {
      await remembers('express', { DATABASE_URL: server.url });
    } finally {
      await server.remove();
    }
  });
});

describeWithProgram('redis-server', 'with REDIS_URL', () => {
  async function withRedis(
    check: (env: Partial<NodeJS.ProcessEnv>) => Promise<void>,
  ): Promise<void> {
    const server = await redisServer({ durable: true });
    await server.start();
    try {
      await check({ REDIS_URL: `redis://127.0.0.1:${String(server.port)}` });
    } finally {
      await server.stop();
    }
  }

  it('examples/fastify remembers events in Redis', () =>
    withRedis((env) => remembers('fastify', env)));

  it('examples/worker keeps jobs in BullMQ', () => withRedis(queues));
});
