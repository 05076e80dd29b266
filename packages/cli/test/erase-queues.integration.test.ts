import { afterEach, expect, test } from '@jest/globals';
import type { Queue as CallQueue } from '@call-webhooks/core';
import {
  describeWithProgram,
  postgresBinaries,
  queued,
  redisServer,
  startPostgres,
} from '@call-webhooks/contract-tests';
import { pgBossQueue, postgresStore } from '@call-webhooks/postgres';
import { bullmqQueue } from '@call-webhooks/redis';
import { Queue } from 'bullmq';
import pg from 'pg';
import PgBoss from 'pg-boss';
import { logger } from './support/dead-letters.ts';
import { run } from './support/run.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const ADA = '+49 171 5550123';
const body = (callId: string, phone: string) =>
  Buffer.from(JSON.stringify({ callId, callerPhone: phone }));

/** Erases the waiting jobs of one person from a queue: first left alone, then lost. */
async function erasesFrom(queue: CallQueue, env: Record<string, string>, flags: string[]) {
  for (const [callId, phone] of [
    ['c1', ADA],
    ['c2', '+1 555 010 9999'],
  ] as const)
    await queue.enqueue(queued(body(callId, phone), { key: callId, callId }));
  const erase = (...more: string[]) =>
    run(['erase', '--contains', '-', '--yes', ...flags, ...more], { env, stdin: ADA });

  const [, name = '', , prefix = ''] = flags;
  const eraseWith = (...more: string[]) =>
    run(['erase', '--contains', '-', '--yes', ...more], { env, stdin: ADA });
  const typo = await eraseWith('--queue', 'call', '--queue-prefix', prefix);
  expect(typo).toMatchObject({ code: 2, stdout: '' });
  expect(typo.stderr).toContain('There is no queue call with the');
  expect(typo.stderr).toContain(`It has --queue ${name} --queue-prefix ${prefix}.`);
  const forgotten = await eraseWith('--json');
  expect(forgotten.code).toBe(1);
  const warning = expect.stringContaining(`pass --queue ${name} --queue-prefix ${prefix}.`);
  expect(forgotten.records()).toMatchObject([{ warnings: expect.arrayContaining([warning]) }]);
  expect(forgotten.stderr).toContain('whose jobs were not searched');
  expect(await eraseWith('--no-queue')).toMatchObject({ code: 0, stdout: 'Erased nothing.\n' });

  const left = await erase();
  expect(left).toMatchObject({ code: 1, stdout: 'Erased nothing.\n' });
  expect(left.stderr).toContain('Skipped: 1 waiting job,');
  const lost = await erase('--lose-waiting');
  expect(lost).toMatchObject({ code: 0, stdout: 'Erased 1 waiting job.\n' });
  const again = await erase('--lose-waiting');
  expect(again).toMatchObject({ code: 0, stdout: 'Erased nothing.\n' });
}

describeWithProgram('redis-server', 'erase --queue with BullMQ', () => {
  test('finds the jobs of a person, under the prefix of the queue', async () => {
    const server = await redisServer();
    await server.start();
    closing.push(() => server.stop());
    const connection = { host: '127.0.0.1', port: server.port };
    const queue = new Queue('calls', { connection, prefix: 'shop' });
    closing.push(() => queue.close());
    const env = { CALL_WEBHOOKS_STORE: `redis://127.0.0.1:${String(server.port)}` };
    const flags = ['--queue', 'calls', '--queue-prefix', 'shop'];
    await erasesFrom(bullmqQueue(queue, { logger }), env, flags);
    const [kept] = await queue.getWaiting();
    expect(kept?.data).toMatchObject({ callId: 'c2' });
  }, 120_000);
});

const POSTGRES = { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' };

describeWithProgram(POSTGRES, 'erase --queue with pg-boss', () => {
  test('finds the jobs of a person, in the schema of the queue', async () => {
    const server = await startPostgres();
    closing.push(() => server.remove());
    const pool = new pg.Pool({ connectionString: server.url });
    pool.on('error', () => undefined); // the server may end before its connections have
    closing.push(() => pool.end());
    await postgresStore(pool).migrate();
    const boss = new PgBoss({ connectionString: server.url, schema: 'jobs', supervise: false });
    boss.on('error', () => undefined);
    await boss.start();
    closing.push(() => boss.stop({ graceful: false, wait: true }));
    const queue = pgBossQueue(boss, { queue: 'calls', schema: 'jobs' });
    await queue.migrate();
    const env = { CALL_WEBHOOKS_STORE: server.url };
    await erasesFrom(queue, env, ['--queue', 'calls', '--queue-prefix', 'jobs']);
    const jobs = await boss.fetch<{ callId: string }>('calls');
    expect(jobs.map(({ data }) => data.callId)).toEqual(['c2']);
  }, 120_000);
});
