import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import {
  collectingLogger,
  deadLetter,
  queuedCall,
  runSample,
  waitFor,
} from '@call-webhooks/contract-tests';
import {
  createSqliteWorker,
  sqliteDeadJobs,
  sqliteDeadLetters,
  sqliteQueue,
} from '@call-webhooks/sqlite';
import Database from 'libsql';
import { testResources } from '../test-resources.ts';

const own = testResources();
const logger = collectingLogger();

/** Runs a sample of the page, and what it exports. */
function start(block: number, then: string, file?: string, env: Record<string, string> = {}) {
  return runSample({
    ...{ test: import.meta.url, document: '../../../../../docs/recovery.md', block, then },
    replace: file === undefined ? {} : { "'calls.db'": JSON.stringify(file) },
    env: {
      CALL_WEBHOOK_SECRET: generateSecret(),
      RECORDING_WEBHOOK_SECRET: generateSecret(),
      ...env,
    },
  });
}
const database = async () => {
  const file = join(await own.folder(), 'calls.db');
  return { file, db: own.add(new Database(file)) };
};

test('the first sample of docs/recovery.md redrives dead letters', async () => {
  const { file, db } = await database();
  const deadLetters = sqliteDeadLetters(db);
  const letter = deadLetter();
  await deadLetters.put(letter);
  const sample = start(1, 'console.log(await redriveAll());', file);
  await sample.printed('started');
  await sample.printed('handled: 1,');
  await sample.printed(letter.callId!);
  await sample.end();
  expect(await deadLetters.count()).toBe(0);
}, 60_000);

test('the second one requeues dead jobs', async () => {
  const { file, db } = await database();
  const queue = sqliteQueue(db);
  const fail = () => {
    throw new Error('the CRM is down');
  };
  const on = { 'call:completed': fail };
  const worker = createSqliteWorker(queue, { on, logger, maxRuns: 1, pollEvery: 10 });
  await queue.enqueue(queuedCall('call-1'));
  await waitFor(async () => (await sqliteDeadJobs(queue).count()) === 1);
  await worker.close();
  const sample = start(2, 'console.log(await redriveJobs());', file);
  await sample.printed('started');
  await sample.printed('queued: 1');
  await sample.end();
  expect(await queue.stats()).toMatchObject({ waiting: 1, dead: 0 });
}, 60_000);

test('the third one runs what was missed', async () => {
  const { file } = await database();
  const simulator = await own.simulator({ startAt: Date.now() - 10 * 3_600_000 });
  const { _id } = simulator.calls.place({ durationSeconds: 20, recorded: false });
  await simulator.clock.advance('1m');
  const env = { SERVICE_URL: simulator.url, API_TOKEN: simulator.apiToken };
  const sample = start(3, 'console.log(await catchUp());', file, env);
  await sample.printed('started');
  await sample.printed(_id);
  await sample.printed('missed: 1');
  await sample.end();
}, 60_000);

test('the fourth one runs on a schedule, and ends on SIGTERM', async () => {
  const simulator = await own.simulator();
  const env = { SERVICE_URL: simulator.url, API_TOKEN: simulator.apiToken };
  const sample = start(4, '', undefined, env);
  await sample.printed('started');
  expect(await sample.end()).toEqual([0, null]);
}, 60_000);
