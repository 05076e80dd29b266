import { describe, expect, it } from '@jest/globals';
import { collectingLogger, deadLetter, queued } from '@call-webhooks/contract-tests';
import { memoryDeadLetters, memoryStore } from '@call-webhooks/core';
import type { OutcomeRow, QueueJobs } from '@call-webhooks/core/stores';
import { erase, type StoreRetry } from '../../src/index.ts';
import { fastClock } from '../support/fast-clock.ts';

type Answer = () => unknown;

/** What a call of a store may do instead of answering. */
const TROUBLE = {
  throws: () => {
    throw new Error('not connected');
  },
  rejects: () => Promise.reject(new Error('connection refused')),
  hangs: () => new Promise<never>(() => undefined),
  'does it, and loses the answer': async (answer: Answer) => {
    await answer();
    throw new Error('connection reset');
  },
} satisfies Record<string, (answer: Answer) => unknown>;
const KINDS = Object.keys(TROUBLE) as (keyof typeof TROUBLE)[];

const ADA = { name: 'Ada Lovelace', eventName: 'call:completed' };
const body = (callId: string) => Buffer.from(JSON.stringify({ ...ADA, callId }));
const key = (callId: string) => `${callId}:call:completed`;

/** Where something of Ada's calls is kept: dead letters, jobs that wait, outcomes and keys. */
async function places() {
  const clock = fastClock();
  const [deadLetters, store] = [memoryDeadLetters(), memoryStore()];
  const waiting = new Map([['1', queued(body('c3'), { key: key('c3'), callId: 'c3' })]]);
  const jobs: QueueJobs = {
    list: async () => ({
      jobs: [...waiting].map(([id, delivery]) => {
        return { id, delivery, state: 'waiting', at: new Date(delivery.receivedAt) };
      }),
    }),
    erase: async (id, state) => state === 'waiting' && waiting.delete(id),
    forget: async () => 0,
  };
  for (const callId of ['c1', 'c2'])
    await deadLetters.put(deadLetter({ rawBody: body(callId), callId, key: key(callId) }));
  for (const callId of ['c1', 'c2', 'c3', 'other']) {
    const token = `token-${callId}`;
    const claim = { webhookId: token, token, key: key(callId), leaseMs: 60_000 };
    await store.admit({ ...claim, replayUntil: Date.now() });
    await store.complete(key(callId), token);
  }
  const row = (callId: string): OutcomeRow => ({
    ...{ at: Date.now(), process: 'p', outcome: 'dead-lettered', source: 'webhook' },
    ...{ durationMs: 1, callId, key: key(callId) },
  });
  await store.log!.append({
    ...{ id: 'batch', counts: {}, marks: {}, failures: [] },
    process: { id: 'p', host: 'h', pid: 1, startedAt: 0, at: Date.now(), inFlight: 0 },
    rows: ['c1', 'c2', 'c3', 'other'].map(row),
  });
  const left = async () => ({
    deadLetters: await deadLetters.count(),
    waiting: waiting.size,
    rows: (await store.log!.read()).rows.map(({ callId }) => callId),
    states: await store.peek?.(['c1', 'c2', 'c3', 'other'].map(key)),
  });
  return { clock, deadLetters, store, jobs, left };
}

type Places = Awaited<ReturnType<typeof places>>;

/** Each call that an erasure makes. */
const CALLS = {
  'list() of the dead letters': ({ deadLetters }) => [deadLetters, 'list'],
  'get() of the dead letters': ({ deadLetters }) => [deadLetters, 'get'],
  'claim() of the dead letters': ({ deadLetters }) => [deadLetters, 'claim'],
  'settle() of the dead letters': ({ deadLetters }) => [deadLetters, 'settle'],
  'list() of the jobs': ({ jobs }) => [jobs, 'list'],
  'erase() of the jobs': ({ jobs }) => [jobs, 'erase'],
  'forget() of the jobs': ({ jobs }) => [jobs, 'forget'],
  'forget() of the store': ({ store }) => [store, 'forget'],
  'read() of the log': ({ store }) => [store.log, 'read'],
  'erase() of the log': ({ store }) => [store.log, 'erase'],
} satisfies Record<string, (places: Places) => [object | undefined, string]>;
const NAMES = Object.keys(CALLS) as (keyof typeof CALLS)[];

/** Erases what is kept of Ada, while one call is in trouble for a number of times. */
async function begin(name: keyof typeof CALLS, kind: keyof typeof TROUBLE, times: number) {
  const made = await places();
  const [port, method] = CALLS[name](made) as unknown as [
    Record<string, (...given: unknown[]) => unknown>,
    string,
  ];
  const works = port[method]!.bind(port);
  let left = times;
  port[method] = (...given) =>
    left-- > 0 ? TROUBLE[kind](() => works(...given)) : works(...given);
  const retries: StoreRetry[] = [];
  const logger = collectingLogger();
  const erasing = erase({
    ...{ contains: ['Ada Lovelace'], by: 'ops', forgetKeys: true, loseWaiting: true },
    ...{ deadLetters: made.deadLetters, store: made.store, jobs: made.jobs, clock: made.clock },
    ...{ logger, onRetry: (retry) => void retries.push(retry) },
  });
  const repair = () => (port[method] = works);
  return { ...made, erasing, retries, logger, repair };
}

const ERASED = {
  ...{ deadLetters: 0, waiting: 0, rows: ['other'] },
  states: [undefined, undefined, undefined, 'handled'],
};

/** Calls that find nothing more to erase when they are made again. A queue says that a job is gone. */
const UNCOUNTED: readonly string[] = [
  ...['settle() of the dead letters', 'erase() of the log'],
  ...['forget() of the jobs', 'forget() of the store'],
];

describe.each(NAMES)('an erasure, when %s', (name) => {
  it.each(KINDS)('%s twice, goes on after two pauses, and leaves nothing', async (kind) => {
    const { erasing, retries, left, clock, logger } = await begin(name, kind, 2);
    const counts = await erasing;
    expect(await left()).toEqual(ERASED);
    expect(retries.map(({ failures, pauseMs }) => [failures, pauseMs])).toEqual([
      [1, 500],
      [2, 1_000],
    ]);
    // What was erased and whose answer was lost cannot be counted everywhere.
    if (kind !== 'does it, and loses the answer' || !UNCOUNTED.includes(name))
      expect(counts).toEqual({
        ...{ deadLetters: 2, waitingJobs: 1, deadJobs: 0, doneJobs: 0, outcomes: 3, keys: 3 },
        ...{ running: 0, leftWaiting: 0 },
      });
    expect([counts.running, counts.leftWaiting]).toEqual([0, 0]);
    expect(clock.pending()).toBe(0);
    expect(logger.entries).toMatchObject([{ level: 'info', fields: { by: 'ops', ended: true } }]);
  });

  it('fails for good, rejects after ten more calls, says so, and erases the rest when it is run again', async () => {
    const made = await begin(name, 'rejects', Infinity);
    await expect(made.erasing).rejects.toThrow('connection refused');
    expect(made.retries).toHaveLength(10);
    expect(made.clock.pending()).toBe(0);
    expect(made.logger.entries).toMatchObject([{ fields: { by: 'ops', ended: false } }]);
    made.repair();
    const { deadLetters, store, jobs, left } = made;
    await erase({
      ...{ contains: ['Ada Lovelace'], by: 'ops', forgetKeys: true, loseWaiting: true },
      ...{ deadLetters, store, jobs, logger: made.logger, clock: made.clock },
    });
    // A letter is claimed until the erasure that has died with it has lost its claim.
    if (name !== 'settle() of the dead letters') expect(await left()).toEqual(ERASED);
  });
});
