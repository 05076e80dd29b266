import { describe, expect, it } from '@jest/globals';
import { collectingLogger, deadLetter } from '@call-webhooks/contract-tests';
import { memoryDeadLetters, memoryStore, type DeadLetters } from '@call-webhooks/core';
import { redactId } from '@call-webhooks/core/internal';
import type { OutcomeRow } from '@call-webhooks/core/stores';
import { erase, type EraseOptions, type EraseProgress } from '../../src/index.ts';

const AT = Date.UTC(2026, 0, 2);
const ADA = 'Ada Lovelace';
const letterOf = (name: string, callId: string, more: object = {}) =>
  deadLetter({
    ...{ rawBody: Buffer.from(JSON.stringify({ eventName: 'call:completed', name, callId })) },
    ...{ callId, key: `${callId}:call:completed`, ...more },
  });
const row = (callId: string | undefined, more: Partial<OutcomeRow> = {}): OutcomeRow => ({
  ...{ at: AT, process: 'p', outcome: 'handled', source: 'webhook', durationMs: 1 },
  ...(callId !== undefined && { callId, key: `${callId}:call:completed` }),
  ...more,
});

async function setup(
  letters: readonly ReturnType<typeof letterOf>[],
  rows: readonly OutcomeRow[] = [],
) {
  const [deadLetters, store, logger] = [memoryDeadLetters(), memoryStore(), collectingLogger()];
  for (const letter of letters) await deadLetters.put(letter);
  await store.log!.append({
    ...{ id: 'batch', counts: {}, marks: {}, failures: [], rows },
    process: { id: 'p', host: 'h', pid: 1, startedAt: 0, at: Date.now(), inFlight: 0 },
  });
  const run = (options: Partial<EraseOptions>) =>
    erase({ by: 'ops', deadLetters, store, logger, ...options });
  const left = async () => ({
    letters: (await deadLetters.list()).letters.map(({ callId }) => callId).sort(),
    rows: (await store.log!.read()).rows.map(({ callId, tenant }) => [callId, tenant]),
  });
  return { deadLetters, store, logger, run, left };
}

describe('the outcomes that an erasure leaves', () => {
  it('are those of another tenant that has calls of the same ids', async () => {
    const { run, left } = await setup(
      [],
      [row('c1', { tenant: 'acme' }), row('c1', { tenant: 'globex' }), row('c1')],
    );
    const of = { callIds: ['c1'], tenant: 'acme' };
    expect(await run({ ...of, dryRun: true })).toMatchObject({ outcomes: 1 });
    expect(await run(of)).toMatchObject({ outcomes: 1 });
    expect((await left()).rows).toEqual([
      ['c1', undefined],
      ['c1', 'globex'],
    ]);
  });

  it('are those of a call that is asked for, whose body does not contain the value', async () => {
    const { run, left } = await setup(
      [letterOf(ADA, 'c1'), letterOf('Bob Noyce', 'c2')],
      [row('c1'), row('c2'), row('c3')],
    );
    const of = { callIds: ['c1', 'c2'], contains: [ADA] };
    for (const dryRun of [true, false])
      expect(await run({ ...of, dryRun })).toMatchObject({ deadLetters: 1, outcomes: 1 });
    expect(await left()).toEqual({
      letters: ['c2'],
      rows: [
        ['c3', undefined],
        ['c2', undefined],
      ],
    });
  });

  it.each(['no call', 'ada@example.com'])(
    'are not those of an event without a call, whose key is "%s:lead", as the log has it',
    async (id) => {
      const key = `${id}:lead`;
      const { run, store } = await setup(
        [letterOf(ADA, 'none', { callId: undefined, key })],
        [row(undefined, { key: redactId(key) }), row(undefined, { key: 'other:lead' })],
      );
      expect(await run({ contains: [ADA], dryRun: true })).toMatchObject({ outcomes: 1 });
      expect(await run({ contains: [ADA] })).toMatchObject({ outcomes: 1, deadLetters: 1 });
      expect((await store.log!.read()).rows.map((one) => one.key)).toEqual(['other:lead']);
    },
  );

  it('are none of any number of calls, in calls of the log that a database can take', async () => {
    const callIds = Array.from({ length: 1_001 }, (_, at) => `c${String(at)}`);
    const { run, store, left } = await setup(
      [],
      callIds.map((callId) => row(callId)),
    );
    const sizes: (number | undefined)[] = [];
    const log = {
      ...store.log!,
      erase: async (which: { callIds?: readonly string[] }) => {
        sizes.push(which.callIds?.length);
        return store.log!.erase(which);
      },
    };
    expect(await run({ callIds, store: { log } })).toMatchObject({ outcomes: 1_001 });
    expect(sizes.slice(0, 3)).toEqual([500, 500, 1]);
    expect((await left()).rows).toEqual([]);
  });
});

describe('a dead letter that is removed meanwhile', () => {
  it.each<[when: string, change: (deadLetters: DeadLetters, id: string) => Partial<DeadLetters>]>([
    [
      'before its body is read',
      (deadLetters, gone) => ({
        get: async (id) => {
          if (id === gone) await deadLetters.remove(id);
          return deadLetters.get(id);
        },
      }),
    ],
    [
      'before it is claimed',
      (deadLetters, gone) => ({
        claim: async (id, claim) => {
          if (id === gone) await deadLetters.remove(id);
          return deadLetters.claim(id, claim);
        },
      }),
    ],
  ])('%s is counted nowhere, and stops nothing', async (_when, change) => {
    const { deadLetters, run, left } = await setup([letterOf(ADA, 'c1'), letterOf(ADA, 'c2')]);
    const { letters } = await deadLetters.list();
    const { id } = letters.find(({ callId }) => callId === 'c1')!;
    const changed = { ...deadLetters, ...change(deadLetters, id) };
    const told: EraseProgress[] = [];
    const onProgress = (one: EraseProgress) => void told.push(one);
    const counts = await run({ contains: [ADA], deadLetters: changed, onProgress });
    expect(counts).toMatchObject({ deadLetters: 1, running: 0 });
    expect(told.map(({ match }) => [match?.callId, match?.result])).toEqual([['c2', 'erased']]);
    expect((await left()).letters).toEqual([]);
  });
});

describe('an erasure', () => {
  it('tells how far it is with each hundredth event, also if none fits', async () => {
    const all = Array.from({ length: 250 }, (_, at) => letterOf('Bob Noyce', `c${String(at)}`));
    const { run } = await setup(all);
    const told: EraseProgress[] = [];
    await run({ contains: [ADA], onProgress: (one) => void told.push(one) });
    expect(told.map(({ checked, match }) => [checked, match])).toEqual([
      [100, undefined],
      [200, undefined],
    ]);
  });

  it.each(['while it searches', 'when it has found everything'])(
    'that is interrupted %s has erased nothing, and says so',
    async (when) => {
      const { deadLetters, logger, run, left } = await setup(
        [letterOf(ADA, 'c1'), letterOf(ADA, 'c2'), letterOf(ADA, 'c3')],
        [row('c1'), row('c2')],
      );
      const controller = new AbortController();
      let looked = 0;
      const get: DeadLetters['get'] = async (id) => {
        looked += 1;
        if (looked === (when === 'while it searches' ? 1 : 3))
          controller.abort(new Error('interrupted'));
        return deadLetters.get(id);
      };
      const running = run({
        ...{ contains: [ADA], forgetKeys: true, signal: controller.signal },
        deadLetters: { ...deadLetters, get },
      });
      await expect(running).rejects.toThrow('interrupted');
      expect(looked).toBe(when === 'while it searches' ? 1 : 3);
      expect(await left()).toMatchObject({ letters: ['c1', 'c2', 'c3'], rows: [{}, {}] });
      expect(logger.entries.map(({ message }) => message)).toEqual([
        'call-webhooks: ops erased nothing. It did not end: run it again.',
      ]);
    },
  );

  it('needs forget() of the store only if it forgets keys', async () => {
    const { run, store, left } = await setup([], [row('c1')]);
    const { log } = store;
    const of = { callIds: ['c1'], store: { log } };
    await expect(run({ ...of, forgetKeys: true })).rejects.toMatchObject({
      code: 'invalid-options',
    });
    expect(await run(of)).toMatchObject({ outcomes: 1 });
    expect((await left()).rows).toEqual([]);
  });
});
