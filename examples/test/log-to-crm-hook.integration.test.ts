import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import type { Recording } from '@call-webhooks/client';
import {
  generateSecret,
  sign,
  type CallCompletedEvent,
  type CallRecordingAvailableEvent,
  type Receiver,
} from '@call-webhooks/core';
import type { CrmEntry } from '../log-to-crm/crm-client.ts';
import { openDatabase, type Database, type Sql } from '../log-to-crm/database.ts';
import { createHook } from '../log-to-crm/hook.ts';

const callId = '../call/1';
const secret = generateSecret();
const completed = {
  eventName: 'call:completed',
  callId,
  userId: 'user-1',
  endedAt: '2026-01-31T12:00:00.000Z',
} satisfies CallCompletedEvent & Record<string, unknown>;
const recorded: CallRecordingAvailableEvent = {
  eventName: 'call:recording-available',
  eventId: `${callId}:recording-available`,
  callId,
  userId: 'user-1',
  workspaceId: 'w',
  recordingStartedAt: '2026-01-31T11:59:00.000Z',
  recordingDurationSeconds: 60,
  occurredAt: '2026-01-31T12:00:01.000Z',
  recordingUrl: 'https://api.example.com/v1/calls/1/recording',
};

let database: Database;
let folder: string;
let entries: Map<string, CrmEntry>;
let downloads: number;
let receivers: Receiver[] = [];

beforeAll(async () => {
  database = await openDatabase(undefined, 'memory://');
});
afterAll(async () => {
  await startAnew();
  await database.close();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hook-'));
  for (const method of ['warn', 'error'] as const)
    jest.spyOn(console, method).mockImplementation(() => undefined);
  await startAnew();
});
afterEach(() => rm(folder, { recursive: true }));

async function startAnew(): Promise<void> {
  await Promise.all(receivers.map((receiver) => receiver.close())); // they write to the outcome log
  receivers = [];
  await database.query('DROP SCHEMA IF EXISTS call_webhooks CASCADE');
  await database.query('TRUNCATE calls, call_counts');
  await rm(join(folder, 'recordings'), { recursive: true, force: true });
  entries = new Map();
  downloads = 0;
}

/** A receiver whose handlers fail after so many steps. Resolves with a function that sends it an event. */
async function startReceiver(steps = Infinity) {
  const step = (): void => {
    if (steps-- <= 0) throw new Error('failed');
  };
  const inSteps = ({ query }: Sql): Sql => ({
    query(text, values) {
      if (!/call_webhooks|getdatabaseencoding/.test(text)) step(); // the store is not to fail
      return query(text, values);
    },
  });
  const hook = await createHook({
    secret,
    folder: join(folder, 'recordings'),
    say: () => undefined,
    database: {
      ...inSteps({ query: (text, values) => database.query(text, values) }),
      async transaction(work) {
        step();
        const result = await database.transaction(async (tx) => {
          const done = await work(inSteps({ query: (text, values) => tx.query(text, values) }));
          step();
          return done;
        });
        step();
        return result;
      },
      close: () => Promise.resolve(),
    },
    crm: {
      async putCall(id, entry) {
        step();
        for (let turns = 0; turns < 50; turns++) await turn(); // other events could run meanwhile
        entries.set(id, entry);
        step();
      },
    },
    recordings: {
      async fromEvent() {
        const saveTo: Recording['saveTo'] = async (path) => {
          step();
          downloads++;
          await writeFile(path, 'sound');
          return { path, bytes: 5 };
        };
        return { saveTo } as Recording;
      },
    },
  });
  receivers.push(hook.receiver);
  return async (event: object): Promise<number> => {
    const body = Buffer.from(JSON.stringify(event));
    const { status } = await hook.receiver.receive({ headers: await sign({ secret, body }), body });
    return status;
  };
}

async function expectWhole(): Promise<void> {
  const file = join(folder, 'recordings', `${encodeURIComponent(callId)}.wav`);
  const recording = { file, seconds: 60 };
  const endedAt = completed.endedAt;
  expect([...entries]).toEqual([[callId, { placedBy: 'user-1', endedAt, recording }]]);
  expect(downloads).toBe(1);
  const { rows } = await database.query('SELECT user_id, calls FROM call_counts');
  expect(rows).toEqual([{ user_id: 'user-1', calls: 1 }]);
}

const orders = [
  [completed, recorded],
  [recorded, completed],
];

it.each(orders)('joins the two, in either order and at once (%#)', async (...events) => {
  const send = await startReceiver();
  expect(await Promise.all(events.map(send))).toEqual([200, 200]);
  expect(await Promise.all([...events, ...events].map(send))).toEqual([200, 200, 200, 200]);
  await expectWhole();
});

it('after a failure at any step the retry does what is missing, and no more', async () => {
  let failures = 0;
  for (const events of orders) {
    for (let steps = 0; steps < 16; steps++) {
      await startAnew();
      const failing = await startReceiver(steps);
      const first = await Promise.all(events.map(failing));
      if (first.includes(500)) failures++;
      const next = await startReceiver();
      for (const event of events) expect(await next(event)).toBe(200);
      await expectWhole();
    }
  }
  expect(failures).toBeGreaterThan(20);
});

it('a call without a recording is logged, one without an id is left alone', async () => {
  const send = await startReceiver();
  expect(await send(completed)).toBe(200);
  expect(await send({ eventName: 'call:completed' })).toBe(200);
  expect([...entries.keys()]).toEqual([callId]);
  expect(entries.get(callId)?.recording).toBeUndefined();
});
