import { describe, expect, it } from '@jest/globals';
import { collectingLogger, deadLetter, deferred, waitFor } from '@call-webhooks/contract-tests';
import { memoryDeadLetters, memoryStore } from '@call-webhooks/core';
import {
  erase,
  redrive,
  startReconciler,
  status,
  type EraseOptions,
  type ReconcilerOptions,
  type RedriveOptions,
  type RequeueOptions,
  type StatusOptions,
} from '@call-webhooks/recovery';
import { fastClock } from './support/fast-clock.ts';

// What each option may be at most and at least, and what it is by default. Those of `reconcile` are among its requests.

type Limits<Options> = [
  option: keyof Options & string,
  allowed: readonly unknown[],
  refused: readonly unknown[],
];

const FAR = 2 ** 31 - 1;
const long = (length: number) => 'x'.repeat(length);
const TENANT = [
  ['t', long(128)],
  ['', long(129), 7, null],
] as const;

/** @param begin with one option; rejects or throws if it is refused */
async function hasLimits<Options>(
  name: string,
  begin: (options: Partial<Options>) => unknown,
  [option, allowed, refused]: Limits<Options>,
) {
  for (const value of allowed) await begin({ [option]: value } as Partial<Options>);
  for (const value of refused) {
    const error: unknown = await (async () =>
      begin({ [option]: value } as Partial<Options>))().then(
      () => `${JSON.stringify(value)} is accepted`,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'invalid-options' });
    expect(String(error)).toContain(`${name}: ${option}: `);
  }
}

describe('redrive', () => {
  const deliver = async () => ({ outcome: 'handled' as const, status: 200 });
  const begin = (options: Partial<RedriveOptions>) =>
    redrive({ receiver: { deliver } as never, deadLetters: memoryDeadLetters(), ...options });
  const SHARED: Limits<RedriveOptions>[] = [
    ['concurrency', [1, 1_000], [0, 1_001, 1.5, '4']],
    ['tenant', ...TENANT],
    ['id', ['l'], ['', 7]],
    ['ids', [[], ['l', 'm']], [['l', ''], [7]]],
    ['onProgress', [() => 0], ['log']],
    ['onRetry', [() => 0], ['log']],
    ['signal', [new AbortController().signal], [{}, 'stop']],
    ['clock', [fastClock()], [{ now: Date.now }, Date]],
  ];

  it.each<Limits<RedriveOptions>>([
    ...SHARED,
    ['leaseFor', [1_000, 3_600_000], [999, 3_600_001, '60s']],
    ['defaultTenant', ...TENANT],
    ['receiver', [{ deliver }], [{}, undefined]],
    ['deadLetters', [memoryDeadLetters()], [{ list: () => 0 }, undefined]],
  ])('takes no other %s', async (...limits) => {
    await hasLimits('redrive', begin, limits);
  });

  it.each<Limits<RequeueOptions>>([
    ...(SHARED as unknown as Limits<RequeueOptions>[]),
    ['deadJobs', [], [{}, { list: () => 0, count: () => 0, get: () => 0 }]],
  ])('of dead jobs takes no other %s', async (...limits) => {
    const deadJobs = { ...memoryDeadLetters(), requeue: async () => true };
    await hasLimits('redrive', (options) => redrive({ deadJobs, ...options }), limits);
  });

  it('claims 4 letters at once, each for a minute, by default', async () => {
    const deadLetters = memoryDeadLetters();
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) await deadLetters.put(deadLetter({ key }));
    const leases: number[] = [];
    const gate = deferred();
    const running = redrive({
      deadLetters: {
        ...deadLetters,
        claim: (id, claim) => {
          leases.push(claim.leaseMs);
          return deadLetters.claim(id, claim);
        },
      },
      receiver: { deliver: (() => gate.promise.then(deliver)) as never },
    });
    await waitFor(() => leases.length >= 4);
    await new Promise((resolve) => setImmediate(resolve));
    expect(leases).toEqual([60_000, 60_000, 60_000, 60_000]);
    gate.resolve();
    expect(await running).toMatchObject({ handled: 6 });
  });
});

describe('startReconciler', () => {
  const list = async () => ({ results: [], hasNext: false, raw: {} });
  const begin = async (options: Partial<ReconcilerOptions>) => {
    const client = { baseUrl: 'http://service', calls: { list, recording: list } } as never;
    const shared = { client, logger: collectingLogger(), store: memoryStore() };
    const receiver = { deliver: async () => ({ outcome: 'handled' as const }) };
    await startReconciler({ receiver, ...shared, ...options }).close();
  };

  it.each<Limits<ReconcilerOptions>>([
    ['every', [60_000, FAR], [59_999, FAR + 1, '15m', 60_000.5]],
    ['settleFor', [0, FAR], [-1, '10m']],
    ['lookBack', [0, FAR], [-1, '6h']],
    ['concurrency', [1, 100], [0, 101]],
    ['pageSize', [1, 100_000], [0, 100_001]],
    ['tenant', ...TENANT],
    ['name', ['n', long(100)], ['', long(101)]],
    ['since', [new Date(0)], [0, '2026-01-02', new Date(Number.NaN)]],
    ['dryRun', [true, false], ['yes', 1]],
    ['recordings', [true, false], ['yes', 1]],
    ['newestFirst', [true, false], ['yes', 1]],
    ['logger', [collectingLogger()], [{}, { warn: () => 0 }]],
    ['clock', [fastClock()], [{}, { now: Date.now }]],
    ['receiver', [], [{}, undefined]],
    ['toEvents', [() => []], [[]]],
    ['query', [() => ({})], [{}]],
    ['onEvent', [() => 0], ['log']],
    ['onMissed', [() => 0], ['log']],
    ['onRun', [() => 0], ['log']],
    ['onError', [() => 0], ['log']],
  ])('takes no other %s', async (...limits) => {
    await hasLimits('startReconciler', begin, limits);
  });
});

describe('erase', () => {
  const begin = (options: Partial<EraseOptions>) =>
    erase({
      ...{ tenant: 'acme', by: 'ops', logger: collectingLogger() },
      ...{ deadLetters: memoryDeadLetters(), store: memoryStore(), ...options },
    });

  it.each<Limits<EraseOptions>>([
    ['tenant', ...TENANT],
    ['by', ['o', long(200)], ['', long(201), 'two\nlines', 'two\rlines', undefined]],
    ['callIds', [['c1'], ['c1', 'c2']], [[], [''], ['c1', 7], 'c1']],
    ['contains', [['Al'], ['12345'], ['Al', '12345']], [[], [''], ['A'], ['1234'], [7], 'Al']],
    ['before', [new Date(0)], [0, '2026-01-02', new Date(Number.NaN)]],
    ['loseWaiting', [true, false], ['yes', 1]],
    ['forgetKeys', [true, false], ['yes', 1]],
    ['dryRun', [true, false], ['yes', 1]],
    ['deadLetters', [undefined], [{}, { list: () => 0, get: () => 0, claim: () => 0 }]],
    ['jobs', [undefined, []], [{}, [{ list: () => 0 }], 'queue']],
    ['logger', [collectingLogger()], [{}, { warn: () => 0 }]],
    ['onProgress', [() => 0], ['log']],
    ['onRetry', [() => 0], ['log']],
    ['signal', [new AbortController().signal], [{}, 'stop']],
    ['clock', [fastClock()], [{}, { now: Date.now }]],
  ])('takes no other %s', async (...limits) => {
    await hasLimits('erase', begin, limits);
  });
});

describe('status', () => {
  it.each<Limits<StatusOptions>>([
    ['timeZone', ['UTC', 'Europe/Berlin', undefined], ['', 'Mars', 7]],
    ['expect', [[], ['call:completed']], [{}, 7]],
    ['now', [() => 0], [0, new Date()]],
    ['deadLetters', [memoryDeadLetters()], [{}, { list: () => 0 }]],
    ['store', [{}, memoryStore()], [undefined, null, 'sqlite:calls.db']],
  ])('takes no other %s', async (...limits) => {
    const begin = (options: Partial<StatusOptions>) => status({ store: memoryStore(), ...options });
    await hasLimits('status', begin, limits);
  });
});
