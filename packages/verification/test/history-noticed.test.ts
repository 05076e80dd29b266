import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import { checkHistory } from '../src/history/check/check.ts';
import { LEASE_MS } from '../src/history/engines/engine.ts';
import { sqlite } from '../src/history/engines/sqlite.ts';
import { Journal, readJournal, type JournalEntry } from '../src/history/journal.ts';
import { ManagedProcess } from '../src/history/managed-process.ts';
import { BEAT_MS, NOTICED_MS, probeEngine } from '../src/history/monitors.ts';

// What the history check has to notice, since it explains a violation or is one: a process that ends by itself, one that
// stands still, a slow engine, a clock that was set, and renewals of jobs.

let folder: string;
let path: string;
let journal: Journal;
let started: ManagedProcess[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'history-'));
  path = join(folder, 'journal');
  journal = new Journal(path);
  started = [];
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(started.map((one) => one.kill()));
  rmSync(folder, { recursive: true });
});

const url = () => join(folder, 'calls.db');

/** A worker on SQLite. */
function worker(file = url()): ManagedProcess {
  const input = { journal: path, seed: '1', secret: '', port: 0, queued: true, exactlyOnce: false };
  const fixedFile = join(folder, 'fixed');
  const one = new ManagedProcess(
    'worker',
    { engine: 'sqlite', url: file, fixedFile, ...input },
    journal,
  );
  started.push(one);
  return one;
}

const journaled = async (holds: (entries: JournalEntry[]) => boolean) => {
  while (!holds(readJournal(path))) await delay(20);
};

test('a worker that ends by itself is journaled with what it wrote to stderr, and is a violation', async () => {
  const printed = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const one = worker(join(folder, 'missing', 'calls.db'));
  await expect(one.start()).rejects.toThrow('A worker exited with 1');
  await journaled((entries) => entries.some(({ kind }) => kind === 'exit'));
  expect(one.isGone).toBe(true);
  expect(printed).toHaveBeenCalled();
  const { violations } = checkHistory(readJournal(path), { queued: true });
  expect(violations).toEqual([
    expect.stringMatching(
      /^the worker \d+ ended by itself \(code 1\): [^]*Unable to open connection/,
    ),
  ]);
});

test('a process that stood still before it was killed has a stall in the journal, and no exit', async () => {
  const one = worker();
  await one.start();
  one.freeze();
  await delay(BEAT_MS + NOTICED_MS + 300);
  await one.kill();
  const entries = readJournal(path);
  const kill = entries.pop();
  expect(kill).toMatchObject({ kind: 'fault', fault: 'kill' });
  // On a busy machine, the process may have stalled before as well.
  const stall = { kind: 'fault', fault: 'stall' };
  expect(entries).toEqual(expect.arrayContaining([expect.objectContaining(stall)]));
  for (const entry of entries) expect(entry).toMatchObject(stall);
});

test('a running process gives signs of life, and one that stands still gives none', async () => {
  const one = worker();
  await one.start();
  while (one.beats < 2) await delay(20);
  const { resume } = one.freeze();
  await delay(100); // what it has sent arrives
  const before = one.beats;
  await delay(2 * BEAT_MS);
  expect(one.beats).toBe(before);
  resume();
  while (one.beats === before) await delay(20);
});

test('slow writes of the engine and a wall clock that was set are faults of all processes', async () => {
  const memory = memoryStore();
  const slow = {
    ...memory,
    admit: async (claim: Parameters<typeof memory.admit>[0]) => {
      await delay(NOTICED_MS + 50);
      return memory.admit(claim);
    },
  };
  const stepped = Date.now() + 3_600_000;
  const probe = probeEngine(slow, journal);
  jest.spyOn(Date, 'now').mockReturnValue(stepped);
  await journaled((entries) => entries.length === 2);
  probe.stop();
  const faults = readJournal(path);
  expect(faults).toMatchObject([{ fault: 'slow' }, { fault: 'clock' }]);
  expect(faults.some((fault) => 'pid' in fault)).toBe(false);
});

test('delays that are too short to be journaled do not add up to a lost lease', () => {
  // The claim's answer, the timer of the renewal and the renewal itself may be late.
  expect(LEASE_MS / 3 + 3 * NOTICED_MS).toBeLessThan(LEASE_MS);
});

test('each renewal of a SQLite job is journaled while its handler runs', async () => {
  const queue = await sqlite.queue(url());
  await worker().start();
  const renewals = await sqlite.jobRenewals?.(url());
  // Some of them take longer than a lease.
  const keys = Array.from({ length: 12 }, (_, n) => `call-${String(n)}:call:completed`);
  for (const key of keys) {
    const [callId = ''] = key.split(':');
    const body = Buffer.from(JSON.stringify({ eventName: 'call:completed', callId }));
    const ids = { webhookId: `webhook-${callId}`, key, callId, eventName: 'call:completed' };
    const now = Date.now();
    const timestamp = Math.floor(now / 1_000);
    await queue.enqueue({ ...ids, timestamp, receivedAt: now, body: body.toString('base64') });
  }
  const runs = (kind: string) =>
    readJournal(path).flatMap((entry) =>
      entry.kind === kind && 'attempt' in entry && entry.attempt === 1 ? [entry] : [],
    );
  while (runs('effect').length + runs('failed').length < keys.length) await delay(20);
  const found = renewals?.read().filter(({ attempt }) => attempt === 1) ?? [];
  expect(found.length).toBeGreaterThan(0);
  for (const { key, at, held } of found) {
    const [begun] = runs('begin').filter((run) => run.key === key);
    expect(held).toBe(true);
    expect(at - (begun?.at ?? 0)).toBeGreaterThan(LEASE_MS / 3 - NOTICED_MS);
  }
});

test('renewing a job that another run has taken over is a violation', () => {
  const key = 'call-1:call:completed';
  const run = (kind: 'begin' | 'effect' | 'failed', at: number, attempt: number): JournalEntry => ({
    ...{ kind, at, pid: attempt, key, attempt },
  });
  const renewed = (at: number, held: boolean): JournalEntry => ({
    ...{ kind: 'job-renewed', at, until: at + 1, key, attempt: 1, held },
  });
  const kill = { kind: 'fault', fault: 'kill', at: 50, until: 51, pid: 1 } as const;
  const runs = [run('begin', 0, 1), kill, run('begin', 2_000, 2), run('effect', 2_100, 2)];
  const violations = (...more: JournalEntry[]) =>
    checkHistory([...runs, ...more], { queued: true }).violations;
  expect(violations(renewed(40, true), renewed(2_050, false))).toEqual([]);
  expect(violations(renewed(2_050, true))).toEqual([
    `${key}: attempt 1 renewed its job although attempt 2 had begun`,
  ]);
});
