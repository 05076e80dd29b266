import { describe, expect, it } from '@jest/globals';
import { collectingLogger, deadLetter, queued } from '@call-webhooks/contract-tests';
import { memoryDeadLetters, memoryStore } from '@call-webhooks/core';
import { redactId } from '@call-webhooks/core/internal';
import {
  deadLetterId,
  type JobState,
  type ListedJob,
  type OutcomeRow,
  type QueueJobs,
} from '@call-webhooks/core/stores';
import { erase, type EraseOptions, type EraseProgress } from '../../src/index.ts';

// One world in which every figure differs from all others: one that is counted as another shows.

const ADA = { eventName: 'call:completed', name: 'Ada Lovelace' };
const BOB = { eventName: 'call:completed', name: 'Bob Noyce' };
const body = (person: object, callId: string) => Buffer.from(JSON.stringify({ ...person, callId }));
const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const key = (callId: string, tenant?: string) =>
  `${tenant === undefined ? '' : `tenant:${tenant}:`}${callId}:call:completed`;

/** A queue of jobs in memory. */
function jobsOf(jobs: Map<string, ListedJob>, known: Set<string>): QueueJobs {
  return {
    list: async () => ({ jobs: [...jobs.values()] }),
    erase: async (id, state) => jobs.get(id)?.state === state && jobs.delete(id),
    forget: async (keys) => keys.filter((one) => known.delete(one)).length,
  };
}

/** How many of Ada's are in each place. */
const HERE = { letters: 2, claimed: 1, dead: 3, done: 4, waiting: 5, running: 6 };

async function world() {
  const [deadLetters, store] = [memoryDeadLetters(), memoryStore()];
  const rows: OutcomeRow[] = [];
  const calls: string[] = [];
  const row = (callId: string, more: Partial<OutcomeRow> = {}): OutcomeRow => ({
    ...{ at: AT, process: 'p', outcome: 'dead-lettered', source: 'webhook', durationMs: 1 },
    ...{ callId, key: key(callId, 'acme'), tenant: 'acme', ...more },
  });
  const know = async (callId: string, tenant = 'acme') => {
    const token = `t-${callId}`;
    const claim = { webhookId: token, token, key: key(callId, tenant), leaseMs: 60_000 };
    await store.admit({ ...claim, replayUntil: Date.now() });
    await store.complete(claim.key, token);
  };
  const put = async (person: object, callId: string, more: object = {}) => {
    const letter = deadLetter({
      ...{ rawBody: body(person, callId), callId, key: key(callId, 'acme'), tenant: 'acme' },
      ...{ failedAt: new Date(AT), ...more },
    });
    await deadLetters.put(letter);
    return deadLetterId(letter);
  };
  const [first, second] = [new Map<string, ListedJob>(), new Map<string, ListedJob>()];
  const add = (
    to: Map<string, ListedJob>,
    state: JobState,
    callId: string,
    { person = ADA, tenant = 'acme' } = {},
  ) => {
    const of = { eventName: 'call:completed', callId, tenant, key: key(callId, tenant) };
    const delivery = queued(body(person, callId), of);
    to.set(callId, { id: callId, state, at: new Date(AT), delivery });
  };
  const each = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => `${name}-${String(index)}`);
  for (const callId of each(HERE.letters, 'letter')) {
    await put(ADA, callId);
    calls.push(callId);
  }
  for (const callId of each(HERE.claimed, 'claimed')) {
    const id = await put(ADA, callId);
    await deadLetters.claim(id, { token: 'redrive', leaseMs: 60_000 });
    calls.push(callId);
  }
  for (const state of ['dead', 'done', 'waiting', 'running'] as const)
    for (const callId of each(HERE[state], state)) {
      add(callId.endsWith('0') ? second : first, state, callId);
      calls.push(callId);
    }
  // These are not Ada's, or of another tenant.
  await put(BOB, 'letter-of-bob');
  await put(ADA, 'letter-of-globex', { tenant: 'globex', key: key('letter-of-globex', 'globex') });
  add(first, 'dead', 'job-of-bob', { person: BOB });
  add(second, 'dead', 'job-of-globex', { tenant: 'globex' });
  const others = ['letter-of-bob', 'job-of-bob'];
  rows.push(...[...calls, ...others].map((callId) => row(callId)));
  rows.push(row('letter-0', { outcome: 'handler-failed', webhookId: 'earlier' }));
  for (const callId of ['letter-of-globex', 'job-of-globex'])
    rows.push(row(callId, { tenant: 'globex', key: key(callId, 'globex') }));
  await store.log!.append({
    ...{ id: 'batch', counts: {}, marks: {}, failures: [], rows },
    process: { id: 'p', host: 'h', pid: 1, startedAt: 0, at: Date.now(), inFlight: 0 },
  });
  for (const callId of [...calls, ...others]) await know(callId);
  const known = new Set(each(HERE.dead, 'dead').map((callId) => key(callId, 'acme')));
  const logger = collectingLogger();
  const progress: EraseProgress[] = [];
  const run = (options: Partial<EraseOptions> = {}) =>
    erase({
      ...{ contains: ['Ada Lovelace'], tenant: 'acme', by: 'ops', deadLetters, store, logger },
      jobs: [jobsOf(first, known), jobsOf(second, new Set())],
      onProgress: (one) => void progress.push(one),
      ...options,
    });
  const left = async () => ({
    letters: (await deadLetters.list()).letters.map(({ callId = '' }) => callId).sort(),
    jobs: [...first.keys(), ...second.keys()].sort(),
    rows: (await store.log!.read()).rows.map(({ callId = '' }) => callId).sort(),
  });
  return { run, left, logger, progress, store };
}

const WAITING = Array.from({ length: HERE.waiting }, (_, index) => `waiting-${String(index)}`);
const RUNNING = Array.from({ length: HERE.running }, (_, index) => `running-${String(index)}`);

describe('what an erasure counts', () => {
  const erased = { deadLetters: 2, deadJobs: 3, doneJobs: 4, waitingJobs: 0 };
  const left = { running: 7, leftWaiting: 5 };

  it('without more options: what is left, in every pass once, and its outcomes', async () => {
    const made = await world();
    // Its outcomes are those of what is erased, and of a dead letter that a redrive has.
    const counts = { ...erased, ...left, outcomes: 2 + 1 + 3 + 4 + 1, keys: 0 };
    expect(await made.run()).toEqual(counts);
    expect(await made.left()).toEqual({
      letters: ['claimed-0', 'letter-of-bob', 'letter-of-globex'],
      jobs: ['job-of-bob', 'job-of-globex', ...RUNNING, ...WAITING],
      rows: [
        ...['job-of-bob', 'job-of-globex', 'letter-of-bob', 'letter-of-globex'],
        ...[...RUNNING, ...WAITING],
      ],
    });
    expect(made.logger.entries).toEqual([
      {
        level: 'info',
        fields: { by: 'ops', ...counts, ended: true },
        message:
          'call-webhooks: ops erased 2 dead letters, 3 dead jobs, 4 finished jobs, 11 outcomes; left alone: 7 running, 5 waiting.',
      },
    ]);
    // What was left is found again, and nothing else.
    expect(await made.run()).toEqual({
      ...{ deadLetters: 0, deadJobs: 0, doneJobs: 0, waitingJobs: 0 },
      ...{ outcomes: 0, keys: 0, ...left },
    });
  });

  it('with loseWaiting and forgetKeys: everything but what runs, and each key in its places', async () => {
    const made = await world();
    // Of each call, call:completed is known to the store, and that of dead jobs to their queue as well.
    const counts = {
      ...{ ...erased, waitingJobs: 5, running: 7, leftWaiting: 0 },
      ...{ outcomes: 2 + 1 + 3 + 4 + 5 + 1, keys: 2 + 1 + 3 + 4 + 5 + 3 },
    };
    expect(await made.run({ loseWaiting: true, forgetKeys: true })).toEqual(counts);
    expect((await made.left()).jobs).toEqual(['job-of-bob', 'job-of-globex', ...RUNNING]);
    expect(made.logger.entries.map(({ message }) => message)).toEqual([
      'call-webhooks: ops erased 2 dead letters, 3 dead jobs, 4 finished jobs, 5 waiting jobs, 16 outcomes, 18 keys; left alone: 7 running.',
    ]);
    const keys = ['letter-0', 'claimed-0', 'dead-0', 'running-0', 'letter-of-bob'];
    expect(await made.store.peek!(keys.map((callId) => key(callId, 'acme')))).toEqual([
      ...[undefined, undefined, undefined, 'handled', 'handled'],
    ]);
  });

  it.each([
    [{}, { waitingJobs: 0, leftWaiting: 5 }, 11],
    [{ loseWaiting: true }, { waitingJobs: 5, leftWaiting: 0 }, 16],
  ])(
    'is what a dry run says before, which erases nothing: %j',
    async (options, waiting, outcomes) => {
      const made = await world();
      const before = await made.left();
      const counts = { ...erased, ...waiting, running: 7, outcomes, keys: 0 };
      const dryRun = { ...options, dryRun: true, forgetKeys: true };
      expect(await made.run(dryRun)).toEqual(counts);
      expect(await made.left()).toEqual(before);
      expect(made.logger.entries).toEqual([]);
      const matches = made.progress.flatMap(({ match }) => match ?? []);
      const told = (where: string, result: string, state?: JobState) =>
        matches.filter(
          (one) => one.where === where && one.result === result && (!state || one.state === state),
        ).length;
      expect({
        ...{ letters: told('dead letters', 'erased'), claimed: told('dead letters', 'running') },
        ...{ dead: told('jobs', 'erased', 'dead'), done: told('jobs', 'erased', 'done') },
        waiting: told('jobs', waiting.leftWaiting > 0 ? 'left waiting' : 'erased', 'waiting'),
        running: told('jobs', 'running', 'running'),
      }).toEqual(HERE);
      expect(matches).toHaveLength(21);
      expect(matches.find(({ callId }) => callId === 'dead-0')).toEqual({
        ...{ where: 'jobs', id: 'dead-0', state: 'dead', result: 'erased', at: new Date(AT) },
        ...{ tenant: 'acme', callId: 'dead-0', values: [0], eventName: 'call:completed' },
      });
      expect(await made.run(options)).toEqual(counts);
    },
  );
});

describe('the time before which an erasure erases', () => {
  it.each([
    ['a millisecond later', AT + 1, 1],
    ['the same', AT, 0],
  ])('is %s than an outcome, also in a dry run', async (_what, before, count) => {
    const store = memoryStore();
    const row: OutcomeRow = {
      ...{ at: AT, process: 'p', outcome: 'handled', source: 'webhook', durationMs: 1 },
      ...{ callId: 'c1', key: key('c1') },
    };
    await store.log!.append({
      ...{ id: 'batch', counts: {}, marks: {}, failures: [], rows: [row] },
      process: { id: 'p', host: 'h', pid: 1, startedAt: 0, at: Date.now(), inFlight: 0 },
    });
    const options = { by: 'ops', store, before: new Date(before), logger: collectingLogger() };
    for (const dryRun of [true, false])
      expect((await erase({ ...options, dryRun })).outcomes).toBe(count);
  });

  it('is no limit for the outcomes of an event that was found by its body', async () => {
    const [deadLetters, store] = [memoryDeadLetters(), memoryStore()];
    const letter = deadLetter({
      ...{ rawBody: body(ADA, 'c1'), callId: 'c1', key: key('c1'), failedAt: new Date(AT) },
    });
    await deadLetters.put(letter);
    const row: OutcomeRow = {
      ...{ at: AT + 9_999, process: 'p', outcome: 'handled', source: 'webhook', durationMs: 1 },
      ...{ callId: 'c1', key: key('c1') },
    };
    await store.log!.append({
      ...{ id: 'batch', counts: {}, marks: {}, failures: [], rows: [row] },
      process: { id: 'p', host: 'h', pid: 1, startedAt: 0, at: Date.now(), inFlight: 0 },
    });
    const options = { by: 'ops', deadLetters, store, before: new Date(AT + 1) };
    const run = (more: Partial<EraseOptions>) =>
      erase({ ...options, logger: collectingLogger(), ...more });
    expect(await run({ callIds: ['c1'], dryRun: true })).toMatchObject({ outcomes: 0 });
    expect(await run({ contains: ['Ada Lovelace'] })).toMatchObject({
      deadLetters: 1,
      outcomes: 1,
    });
  });
});

it.each(['+49 171 5550123', 'ada@example.com', 'c1'])(
  'the outcomes of the call %s are counted in a dry run as they are erased, also if its id is redacted',
  async (callId) => {
    const store = memoryStore();
    const row = (of: string): OutcomeRow => ({
      ...{ at: AT, process: 'p', outcome: 'handled', source: 'webhook', durationMs: 1 },
      ...{ callId: redactId(of), key: redactId(key(of)) },
    });
    await store.log!.append({
      ...{ id: 'batch', counts: {}, marks: {}, failures: [], rows: [row(callId), row('c2')] },
      process: { id: 'p', host: 'h', pid: 1, startedAt: 0, at: Date.now(), inFlight: 0 },
    });
    const options = { by: 'ops', store, callIds: [callId], logger: collectingLogger() };
    expect(await erase({ ...options, dryRun: true })).toMatchObject({ outcomes: 1 });
    expect(await erase(options)).toMatchObject({ outcomes: 1 });
    const { rows } = await store.log!.read();
    expect(rows.map((one) => one.callId)).toEqual(['c2']);
  },
);
