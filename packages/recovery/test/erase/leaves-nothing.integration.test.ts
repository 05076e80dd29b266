import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  collectingLogger,
  describeWithProgram,
  mariadbProgram,
  postgresBinaries,
  redisServer,
  startMysql,
  startPostgres,
  waitFor,
} from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret } from '@call-webhooks/core';
import type { ListedJob } from '@call-webhooks/core/stores';
import { erase } from '../../src/index.ts';
import { PLACES, type Place, type PlaceName } from './places.ts';

/** As they are searched for, and as they must not be found any more. */
const PERSON = ['+49 171 5550123', 'ada.lovelace@example.com', 'Ada Lovelace'];
const TRACES = /lovelace|5550123|555.0123/i;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Every tenth event is about the person. */
const isAda = (at: number) => at % 10 === 0;
const eventOf = (at: number) => ({
  eventName: 'call:completed',
  callId: `call-${String(at)}`,
  contact: isAda(at)
    ? { name: 'Ada Lovelace', phone: '+491715550123', email: 'Ada.Lovelace@example.com' }
    : { name: `Person ${String(at)}`, phone: `+1555020${String(1_000 + at)}` },
  note: 'called back',
});
/** How many of the 1,000 go through the queue, where there is one. */
const queuedOf = ({ queued }: Place) => (queued ? 400 : 0);
const STATES = 3;

/** 1,000 events: handled, dead-lettered; and in the queue handled, dead, and waiting. */
async function fill(place: Place): Promise<void> {
  const logger = collectingLogger();
  const on = {
    'call:completed': (event: unknown) => {
      const { callId, contact } = event as ReturnType<typeof eventOf>;
      const at = Number(callId.slice('call-'.length));
      if (Math.floor(at / 10) % 2 === 1)
        throw new Error(`The CRM does not know ${contact.name}, ${contact.phone}.`);
    },
  };
  const secret = generateSecret();
  const shared = { ...{ secret, store: place.store, logger } };
  const direct = createReceiver({ ...shared, on, deadLetter: place.deadLetters, maxAttempts: 1 });
  const [first, last] = [1_000 - queuedOf(place), 1_000];
  for (let at = 0; at < first; at++) await direct.deliver(eventOf(at));
  await direct.close();
  if (!place.queued) return;

  const { queue, startWorker } = place.queued;
  const queueing = createReceiver({ ...shared, queue });
  const firstWaiting = last - queuedOf(place) / STATES;
  const worker = startWorker({ on, logger });
  let at = first;
  for (; at < firstWaiting; at++) await queueing.deliver(eventOf(at));
  await waitFor(
    async () => (await allJobs(place)).every(({ state }) => state === 'dead' || state === 'done'),
    { within: 60_000 },
  );
  await worker.close();
  for (; at < last; at++) await queueing.deliver(eventOf(at));
  await queueing.close();
}

async function allJobs({ queued }: Place): Promise<ListedJob[]> {
  const all: ListedJob[] = [];
  if (!queued) return all;
  let cursor: string | undefined;
  do {
    const page = await queued.jobs.list({ cursor, limit: 500 });
    all.push(...page.jobs);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return all.filter(({ delivery }) => Boolean(delivery.body));
}

/** What is kept of the others, with the bodies. */
async function othersOf(place: Place): Promise<string[]> {
  const letters: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await place.deadLetters.list({ cursor, limit: 1_000 });
    for (const { id } of page.letters) {
      const letter = await place.deadLetters.get(id);
      letters.push(`letter ${Buffer.from(letter!.rawBody).toString()}`);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  const jobs = (await allJobs(place)).map(
    ({ state, delivery }) => `${state} ${Buffer.from(String(delivery.body), 'base64').toString()}`,
  );
  return [...letters, ...jobs].filter((text) => !TRACES.test(text)).sort();
}

/** A dump, and everything in it that is encoded in base64. */
function decoded(dump: string): string {
  const encoded = dump.match(/[A-Za-z0-9+/]{24,}={0,2}/g) ?? [];
  // A run may begin with letters that belong to what is before it.
  const texts = encoded.flatMap((text) =>
    [0, 1, 2, 3].map((skip) => Buffer.from(text.slice(skip), 'base64').toString('latin1')),
  );
  return [dump, ...texts].join('\n');
}
const tracesIn = (dump: string) =>
  decoded(dump).match(new RegExp(TRACES.source, 'gi'))?.length ?? 0;

/** Runs an erasure in a process of its own, which is killed after some matches. */
async function eraseAndKill(name: PlaceName, url: string, matches: number): Promise<void> {
  const program = fileURLToPath(new URL('eraser.ts', import.meta.url));
  const args = ['--import', 'tsx', '--conditions=@call-webhooks/source', program, name, url];
  const child = spawn(process.execPath, [...args, String(matches)], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(PERSON.join('\n'));
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
}

/** The call ids of all rows of the log. */
async function callsInLog({ store }: Place): Promise<string[]> {
  const calls: string[] = [];
  let before: string | undefined;
  do {
    const page = await store.log!.read({ before, batches: 500 });
    calls.push(...page.rows.map(({ callId = '' }) => callId));
    before = page.before;
  } while (before !== undefined);
  return calls.sort();
}

function leavesNothing(name: PlaceName, start: () => Promise<string>): void {
  it('leaves no byte of a person, and everything of everybody else, also after it was killed', async () => {
    const url = await start();
    const place = await PLACES[name](url);
    closing.push(() => place.close());
    await fill(place);
    const others = await othersOf(place);
    expect(others.length).toBeGreaterThan(400);
    const rows = await callsInLog(place);
    expect(tracesIn(await place.dump())).toBeGreaterThan(50);

    const logger = collectingLogger();
    const [erased, progress]: [Set<string>, unknown[]] = [new Set(), []];
    const run = (dryRun: boolean) =>
      erase({
        ...{ contains: PERSON, by: 'a test', loseWaiting: true, logger, dryRun },
        ...{ store: place.store, deadLetters: place.deadLetters, jobs: place.queued?.jobs },
        onProgress({ match }) {
          progress.push(match);
          if (match?.callId !== undefined) erased.add(match.callId);
        },
      });
    const found = place.queued
      ? { deadLetters: 30, deadJobs: 13, waitingJobs: 13, running: 0, leftWaiting: 0 }
      : { deadLetters: 50, deadJobs: 0, waitingJobs: 0, running: 0, leftWaiting: 0 };
    expect(await run(true)).toMatchObject(found);
    await eraseAndKill(name, url, 10);
    // It may have died while it had claimed a dead letter.
    await waitFor(async () => (await run(false)).running === 0, { within: 30_000 });

    expect(tracesIn(await place.dump())).toBe(0);
    expect(await othersOf(place)).toEqual(others);
    expect(await callsInLog(place)).toEqual(rows.filter((callId) => !erased.has(callId)));
    expect(`${inspect(progress)}${logger.lines.join('\n')}`).not.toMatch(TRACES);
  }, 240_000);
}

describe('an erasure in SQLite', () => {
  leavesNothing('sqlite', () => {
    const folder = mkdtempSync(join(tmpdir(), 'erasure-'));
    closing.push(() => rmSync(folder, { recursive: true }));
    return Promise.resolve(join(folder, 'calls.db'));
  });
});

describeWithProgram('redis-server', 'an erasure in Redis and BullMQ', () => {
  leavesNothing('redis', async () => {
    const server = await redisServer();
    await server.start();
    closing.push(() => server.stop());
    return `redis://127.0.0.1:${String(server.port)}`;
  });
});

const postgres = { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' };
describeWithProgram(postgres, 'an erasure in Postgres and pg-boss', () => {
  leavesNothing('postgres', async () => {
    const server = await startPostgres();
    closing.push(() => server.remove());
    return server.url;
  });
});

const mariadb = { name: 'mariadbd', path: mariadbProgram(), installedBy: 'mariadb-server' };
describeWithProgram(mariadb, 'an erasure in MySQL', () => {
  leavesNothing('mysql', async () => {
    const server = await startMysql();
    closing.push(() => server.remove());
    return server.url;
  });
});
