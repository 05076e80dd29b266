import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Recording } from '@call-webhooks/client';
import {
  callDetails,
  type CallCompletedEvent,
  type CallRecordingAvailableEvent,
  type HandlerContext,
} from '@call-webhooks/core';
import type { CrmEntry } from '../crm-client.ts';
import { createHandlers } from '../handlers.ts';
import { knownCalls } from '../known-calls.ts';

const callId = '../call/1';
const completed: CallCompletedEvent = {
  eventName: 'call:completed',
  callId,
  userId: 'user-1',
  endedAt: '2026-01-31T12:00:00.000Z',
};
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
type Event = typeof completed | typeof recorded;

let folder: string;
let entries: Map<string, CrmEntry>;
let downloads: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'handlers-'));
  entries = new Map();
  downloads = 0;
});
afterEach(() => rm(folder, { recursive: true }));

/** A process: after so many steps it does nothing any more. A step is an effect on the world. */
async function startProcess(steps = Infinity) {
  const step = (): void => {
    if (steps-- <= 0) throw new Error('crashed');
  };
  const real = await knownCalls(join(folder, 'calls'));
  const handlers = await createHandlers({
    folder: join(folder, 'recordings'),
    say: () => undefined,
    crm: {
      async putCall(id, entry) {
        step();
        entries.set(id, entry);
      },
    },
    recordings: {
      async fromEvent() {
        const saveTo: Recording['saveTo'] = async (path) => {
          step();
          downloads++;
          await writeFile(path, 'sound');
          return { path, bytes: 5, resumedFrom: 0 };
        };
        return { saveTo } as Recording;
      },
    },
    calls: {
      open: (id, work) =>
        real.open(id, (call) =>
          work({
            get known() {
              return call.known;
            },
            async keep(more) {
              step();
              return call.keep(more);
            },
          }),
        ),
    },
  });
  return (event: Event): Promise<void> => {
    const context = { call: callDetails(event) } as HandlerContext;
    return event.eventName === 'call:completed'
      ? handlers['call:completed'](event, context)
      : handlers['call:recording-available'](event);
  };
}

const whole = () => ({
  placedBy: 'user-1',
  endedAt: '2026-01-31T12:00:00.000Z',
  recording: { file: join(folder, 'recordings', `${encodeURIComponent(callId)}.wav`), seconds: 60 },
});
const orders: Event[][] = [
  [completed, recorded],
  [recorded, completed],
];

it.each(orders)('joins the two, in either order and at once (%#)', async (...events) => {
  const handle = await startProcess();
  await Promise.all([...events, completed].map(handle));
  expect([...entries]).toEqual([[callId, whole()]]);
  expect(downloads).toBe(1);
});

it('after a crash at any step the next process does what is missing, and no more', async () => {
  for (const events of orders) {
    for (let steps = 0; steps < 7; steps++) {
      await rm(folder, { recursive: true });
      entries.clear();
      downloads = 0;
      const crashing = await startProcess(steps);
      const first = await Promise.allSettled(events.map(crashing));
      if (steps === 0) expect(first.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      const next = await startProcess();
      for (const event of events) await next(event);
      expect([...entries]).toEqual([[callId, whole()]]);
      expect(downloads).toBe(1);
    }
  }
});

it('a call without a recording is logged, one without an id is left alone', async () => {
  const handle = await startProcess();
  await handle(completed);
  await handle({ eventName: 'call:completed' });
  expect([...entries.keys()]).toEqual([callId]);
  expect(entries.get(callId)?.recording).toBeUndefined();
});
