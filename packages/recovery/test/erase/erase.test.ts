import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  collectingLogger,
  deadLetter,
  deferred,
  queued,
  waitFor,
} from '@call-webhooks/contract-tests';
import {
  createReceiver,
  memoryDeadLetters,
  memoryStore,
  type DeadLetters,
} from '@call-webhooks/core';
import { deadLetterId } from '@call-webhooks/core/stores';
import {
  createSqliteWorker,
  sqliteJobs,
  sqliteQueue,
  type SqliteQueue,
} from '@call-webhooks/sqlite';
import Database from 'libsql';
import { erase, type EraseOptions, type EraseProgress } from '../../src/index.ts';
import { fastClock } from '../support/fast-clock.ts';

const PHONE = '+49 171 5550123';
const ADA = {
  eventName: 'call:completed',
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  phone: PHONE,
};
const BOB = { ...ADA, name: 'Bob Noyce', email: 'bob@example.com', phone: '+1 555 010 9999' };
const body = (event: object, callId: string) => Buffer.from(JSON.stringify({ ...event, callId }));

/** A dead letter of a person. */
const letterOf = (person: object, callId: string, more: object = {}) =>
  deadLetter({ rawBody: body(person, callId), callId, key: `${callId}:call:completed`, ...more });

function setup() {
  const deadLetters = memoryDeadLetters();
  const logger = collectingLogger();
  const progress: EraseProgress[] = [];
  const by = 'ops@example.com';
  const run = (options: Partial<EraseOptions>) =>
    erase({ by, deadLetters, logger, onProgress: (one) => progress.push(one), ...options });
  const left = async () => (await deadLetters.list()).letters.map(({ callId }) => callId).sort();
  return { deadLetters, logger, progress, run, left };
}
const NOTHING = {
  ...{ deadLetters: 0, deadJobs: 0, doneJobs: 0, waitingJobs: 0, outcomes: 0, keys: 0 },
  ...{ running: 0, leftWaiting: 0 },
};

describe('erase: dead letters', () => {
  it.each([
    ['the digits of a phone number', '0049 (171) 555-0123'],
    ['its last nine digits', '715550123'],
    ['an email address, without regard to case', 'ADA@example.com'],
    ['a name', 'ada  lovelace'],
  ])('erases those whose bodies contain %s, and no others', async (_what, value) => {
    const { deadLetters, run, left } = setup();
    await deadLetters.put(letterOf(ADA, 'c1'));
    await deadLetters.put(letterOf(BOB, 'c2'));
    await deadLetters.put(letterOf(ADA, 'c3'));
    expect(await run({ contains: [value] })).toEqual({ ...NOTHING, deadLetters: 2 });
    expect(await left()).toEqual(['c2']);
    expect(await run({ contains: [value] })).toEqual(NOTHING);
  });

  it('says by its place which value found an event, and in which tenant', async () => {
    const { deadLetters, run, progress } = setup();
    await deadLetters.put(letterOf(ADA, 'c1', { tenant: 'acme' }));
    await deadLetters.put(letterOf({ ...BOB, note: 'sister: Ada Lovelace' }, 'c2'));
    await run({ contains: ['+1 555 000 0000', PHONE, 'Ada Lovelace'], dryRun: true });
    const matches = progress.flatMap(({ match }) => match ?? []);
    expect(matches.map(({ callId, tenant, values }) => [callId, tenant, values]).sort()).toEqual([
      ['c1', 'acme', [1, 2]],
      ['c2', undefined, [2]],
    ]);
  });

  it('erases by call ids, tenant and age, all of which have to fit', async () => {
    const { deadLetters, run, left } = setup();
    const old = { failedAt: new Date('2026-01-01') };
    await deadLetters.put(letterOf(ADA, 'c1', { tenant: 'acme', ...old }));
    await deadLetters.put(letterOf(ADA, 'c2', { tenant: 'acme' }));
    await deadLetters.put(letterOf(ADA, 'c3', { tenant: 'globex', ...old }));
    await deadLetters.put(letterOf(BOB, 'c4', { tenant: 'acme', ...old }));
    const before = new Date('2026-01-02');
    expect(await run({ tenant: 'acme', before, contains: ['ada@example.com'] })).toMatchObject({
      deadLetters: 1,
    });
    expect(await left()).toEqual(['c2', 'c3', 'c4']);
    expect(await run({ callIds: ['c2', 'c3'], tenant: 'globex' })).toMatchObject({
      deadLetters: 1,
    });
    expect(await left()).toEqual(['c2', 'c4']);
    expect(await run({ before })).toMatchObject({ deadLetters: 1 });
    expect(await run({ tenant: 'acme' })).toMatchObject({ deadLetters: 1 });
    expect(await left()).toEqual([]);
  });

  it('leaves one that a redrive has, and says so', async () => {
    const { deadLetters, run, left } = setup();
    const letter = letterOf(ADA, 'c1');
    await deadLetters.put(letter);
    const id = await deadLetterId(letter);
    await deadLetters.claim(id, { token: 'redrive', leaseMs: 60_000 });
    for (const dryRun of [true, false])
      expect(await run({ contains: [PHONE], dryRun })).toEqual({ ...NOTHING, running: 1 });
    expect(await left()).toEqual(['c1']);
    await deadLetters.giveBack(id, 'redrive');
    expect(await run({ contains: [PHONE] })).toEqual({ ...NOTHING, deadLetters: 1 });
  });

  it('only lists in a dry run, without personal data', async () => {
    const { deadLetters, logger, progress, run, left } = setup();
    await deadLetters.put(letterOf(ADA, 'c1'));
    await deadLetters.put(
      letterOf(ADA, 'Ada Lovelace, 0171 5550123', { eventName: 'Ada Lovelace' }),
    );
    expect(await run({ contains: [PHONE], dryRun: true })).toEqual({ ...NOTHING, deadLetters: 2 });
    expect(await left()).toHaveLength(2);
    const matches = progress.flatMap(({ match }) => match ?? []);
    expect(matches).toMatchObject([{ where: 'dead letters', state: 'dead', result: 'erased' }, {}]);
    expect(matches.map(({ callId }) => callId).sort()).toEqual(['[redacted]', 'c1']);
    expect(inspect(progress, { depth: 9 })).not.toMatch(/ada|lovelace|5550123/i);
    expect(logger.entries).toEqual([]);
  });

  it('leaves one line that says how many, where and who, and never whose', async () => {
    const { deadLetters, logger, run } = setup();
    await deadLetters.put(letterOf(ADA, 'c1'));
    await run({ contains: [PHONE, 'ada@example.com', 'Ada Lovelace'], callIds: ['c1'] });
    expect(logger.entries.map(({ level, message }) => [level, message])).toEqual([
      ['info', 'call-webhooks: ops@example.com erased 1 dead letter.'],
    ]);
    expect(logger.lines[0]).not.toMatch(/ada|lovelace|0123|c1/i);
  });

  it('ends when it is interrupted, says so, and goes on when it is run again', async () => {
    const { deadLetters, logger, progress, run, left } = setup();
    for (let n = 0; n < 9; n++) await deadLetters.put(letterOf(ADA, `c${String(n)}`));
    const controller = new AbortController();
    const onProgress = (one: EraseProgress) => {
      progress.push(one);
      if (one.deadLetters === 4) controller.abort(new Error('interrupted'));
    };
    const interrupted = run({ contains: [PHONE], signal: controller.signal, onProgress });
    await expect(interrupted).rejects.toThrow('interrupted');
    expect(await left()).toHaveLength(5);
    expect(logger.lines[0]).toContain('erased 4 dead letters');
    expect(logger.lines[0]).toContain('run it again');
    expect(await run({ contains: [PHONE] })).toMatchObject({ deadLetters: 5 });
  });

  it('repeats a call of a store that fails, and gives up in the end', async () => {
    const { deadLetters, logger, run, left } = setup();
    await deadLetters.put(letterOf(ADA, 'c1'));
    const clock = fastClock();
    let failures = 2;
    const flaky: DeadLetters = {
      ...deadLetters,
      settle(id, token) {
        if (failures-- > 0) return Promise.reject(new Error('the store is down'));
        return deadLetters.settle(id, token);
      },
    };
    expect(await run({ contains: [PHONE], deadLetters: flaky, clock })).toMatchObject({
      deadLetters: 1,
    });
    expect(await left()).toEqual([]);
    await deadLetters.put(letterOf(ADA, 'c1'));
    failures = Infinity;
    const failing = run({ contains: [PHONE], deadLetters: flaky, clock });
    await expect(failing).rejects.toThrow('the store is down');
    expect(logger.lines.at(-1)).toContain('run it again');
  });

  it('refuses what would erase all, or nothing, and never quotes a value', async () => {
    const { run } = setup();
    const refusal = async (options: Partial<EraseOptions>) => {
      const error: unknown = await run(options).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'invalid-options' });
      return String(error);
    };
    expect(await refusal({})).toContain('expected one of callIds, tenant, before and contains');
    expect(await refusal({ contains: [] })).toContain('contains: expected a list');
    expect(await refusal({ contains: ['Ada Lovelace', 'Q'] })).toContain(
      'contains: value 2 is too short',
    );
    expect(await refusal({ contains: ['1234'] })).not.toContain('1234');
    expect(await refusal({ tenant: 'acme', deadLetters: undefined })).toContain(
      'expected deadLetters',
    );
    expect(await refusal({ tenant: 'acme', by: '' })).toContain('by: expected who erases');
    expect(await refusal({ tenant: 'acme', forgetKeys: true, store: {} })).toContain('no forget()');
    expect(await refusal({ tenant: 'acme', jobs: {} as never })).toContain('jobs: expected');
  });
});

describe('erase: jobs', () => {
  let folder: string;
  let db: InstanceType<typeof Database>;
  let queue: SqliteQueue;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'erase-'));
    db = new Database(join(folder, 'calls.db'));
    queue = sqliteQueue(db);
  });
  afterEach(() => {
    db.close();
    rmSync(folder, { recursive: true });
  });
  const enqueue = (person: object, callId: string) =>
    queue.enqueue({
      ...queued(body(person, callId)),
      ...{ callId, eventName: 'call:completed', key: `${callId}:call:completed` },
    });

  it('erases dead jobs, and those that wait only when it is told to lose them', async () => {
    const { run, progress, logger } = setup();
    await enqueue(ADA, 'c1');
    const worker = createSqliteWorker(queue, {
      ...{ maxRuns: 1, pollEvery: 5, logger },
      on: {
        'call:completed': () => {
          throw new Error('the CRM is down');
        },
      },
    });
    await waitFor(async () => (await queue.stats()).dead === 1);
    await worker.close();
    await enqueue(ADA, 'c2');
    await enqueue(BOB, 'c3');
    const jobs = sqliteJobs(queue);
    const contains = [PHONE];
    expect(await run({ contains, jobs })).toEqual({ ...NOTHING, deadJobs: 1, leftWaiting: 1 });
    expect(progress.map(({ match }) => match?.result)).toEqual([
      'erased',
      'left waiting',
      'left waiting',
    ]);
    expect(await queue.stats()).toMatchObject({ waiting: 2, dead: 0 });
    expect(await run({ contains, jobs, loseWaiting: true })).toEqual({
      ...NOTHING,
      waitingJobs: 1,
    });
    const { jobs: left } = await jobs.list();
    expect(left.map(({ delivery }) => delivery.callId)).toEqual(['c3']);
  });

  it('erases what is older than a time to the millisecond, of the calls and the tenant that it is told', async () => {
    const { deadLetters, run, left } = setup();
    const before = new Date('2026-01-02T03:04:05.678Z');
    const cases = [-1, 0, 1].flatMap((ms) =>
      ['acme', 'globex', undefined].map((tenant) => ({
        ...{ at: before.getTime() + ms, tenant },
        callId: `${tenant ?? 'none'} ${String(ms)}`,
      })),
    );
    for (const { at, tenant, callId } of cases) {
      await deadLetters.put(letterOf(ADA, callId, { tenant, failedAt: new Date(at) }));
      await queue.enqueue({
        ...{ ...queued(body(ADA, callId)), callId, receivedAt: at, key: `${callId}:started` },
        ...(tenant !== undefined && { tenant }),
      });
    }
    const jobs = sqliteJobs(queue);
    const kept = async () => [
      await left(),
      (await jobs.list()).jobs.map(({ delivery }) => delivery.callId).sort(),
    ];
    const all = cases.map(({ callId }) => callId).sort();
    const erases = async (options: Partial<EraseOptions>, gone: string[]) => {
      expect(await run({ ...options, jobs, loseWaiting: true })).toMatchObject({
        ...{ deadLetters: gone.length, waitingJobs: gone.length, deadJobs: 0, leftWaiting: 0 },
      });
      for (const callId of gone) all.splice(all.indexOf(callId), 1);
      expect(await kept()).toEqual([all, all]);
    };
    await erases({ before, tenant: 'acme', callIds: ['globex -1', 'acme 0'] }, []);
    await erases({ before, tenant: 'acme' }, ['acme -1']);
    await erases({ before }, ['globex -1', 'none -1']);
    await erases({ tenant: 'globex', callIds: ['globex 0', 'acme 0'] }, ['globex 0']);
    await erases({ callIds: ['none 0', 'acme 1'] }, ['none 0', 'acme 1']);
    await erases({ tenant: 'acme' }, ['acme 0']);
  });

  it('leaves a job that runs', async () => {
    const { run, logger } = setup();
    const [running, go] = [deferred(), deferred()];
    await enqueue(ADA, 'c1');
    const worker = createSqliteWorker(queue, {
      ...{ pollEvery: 5, logger },
      on: {
        'call:completed': async () => {
          running.resolve();
          await go.promise;
        },
      },
    });
    await running.promise;
    const jobs = sqliteJobs(queue);
    for (const dryRun of [true, false])
      expect(await run({ contains: [PHONE], jobs, loseWaiting: true, dryRun })).toEqual({
        ...NOTHING,
        running: 1,
      });
    go.resolve();
    await waitFor(async () => (await queue.stats()).done === 1);
    await worker.close();
  });

  it('forgets the keys of what it erases, in the store and in the queue', async () => {
    const { deadLetters, run } = setup();
    const store = memoryStore();
    for (const callId of ['c1', 'c2']) {
      const key = `${callId}:call:completed`;
      const lease = { webhookId: callId, replayUntil: Date.now() + 60_000, leaseMs: 60_000 };
      await store.admit({ ...lease, key, token: callId });
      await store.complete(key, callId, 'dead-lettered');
    }
    await deadLetters.put(letterOf(ADA, 'c1'));
    await deadLetters.put(letterOf(BOB, 'c2'));
    expect(await run({ contains: [PHONE], store })).toMatchObject({ deadLetters: 1, keys: 0 });
    await deadLetters.put(letterOf(ADA, 'c1'));
    const erased = await run({ contains: [PHONE], store, forgetKeys: true });
    expect(erased).toMatchObject({ deadLetters: 1, keys: 1 });
    expect(await store.peek!(['c1:call:completed', 'c2:call:completed'])).toEqual([
      undefined,
      'dead-lettered',
    ]);
    expect(await run({ callIds: ['c2'], store, forgetKeys: true })).toMatchObject({
      deadLetters: 1,
      keys: 1,
    });
  });
});

it('forgets the other events of a call in the tenant that the found one belongs to', async () => {
  const { deadLetters, run } = setup();
  const store = memoryStore();
  const tenants = ['acme', 'umbra'];
  const receiver = createReceiver({
    ...{ store, tenant: () => undefined, secret: () => undefined },
    on: { 'call:started': () => undefined },
  });
  const start = (tenant: string) =>
    receiver.deliver({ eventName: 'call:started', callId: 'c1' }, { tenant });
  const outcomes = async () =>
    Promise.all(tenants.map(async (tenant) => (await start(tenant)).outcome));
  expect(await outcomes()).toEqual(['handled', 'handled']);
  await deadLetters.put(letterOf(ADA, 'c0', { tenant: 'umbra' }));
  await deadLetters.put(letterOf(ADA, 'c1', { tenant: 'acme' }));
  await deadLetters.put(letterOf(ADA, 'c2', { tenant: 'umbra' }));
  await run({ contains: ['ada@example.com'], store, forgetKeys: true });
  expect(await outcomes()).toEqual(['handled', 'duplicate']);
  await receiver.close();
});

it('forgets any number of keys, in calls that a database can take', async () => {
  const { deadLetters, run } = setup();
  const store = memoryStore();
  const callIds = Array.from({ length: 1_201 }, (_, index) => `c${String(index)}`);
  for (const callId of callIds) await deadLetters.put(letterOf(ADA, callId));
  await store.log!.append({
    ...{ id: 'batch', counts: {}, marks: {}, failures: [] },
    rows: callIds.map((callId) => ({
      ...{ at: Date.now(), process: 'p', outcome: 'handled', source: 'webhook', durationMs: 1 },
      callId,
    })),
    process: { id: 'p', host: 'h', pid: 1, startedAt: 0, at: Date.now(), inFlight: 0 },
  });
  const sizes: number[] = [];
  const forget = (keys: readonly string[]) => {
    sizes.push(keys.length);
    return Promise.resolve(keys.length);
  };
  const erased = await run({
    ...{ tenant: undefined, contains: ['ada@example.com'], forgetKeys: true },
    store: { ...store, forget },
  });
  expect([erased.deadLetters, erased.outcomes]).toEqual([1_201, 1_201]);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(500);
  expect(erased.keys).toBe(sizes.reduce((sum, size) => sum + size));
  expect(erased.keys).toBeGreaterThanOrEqual(1_201);
});
