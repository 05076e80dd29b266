import { describe, expect, it } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import {
  memoryDeadLetters,
  OUTCOMES,
  WebhookError,
  type DeliverOptions,
  type OutcomeCode,
} from '@call-webhooks/core';
import { redrive, type RedriveProgress } from '../../src/index.ts';
import { fastClock } from '../support/fast-clock.ts';

const NOTHING = {
  ...{ handled: 0, queued: 0, failed: 0 },
  ...{ alreadyHandled: 0, unknown: 0, skipped: 0, notFound: 0 },
};
const ERROR = new Error('The handler failed: Error: still broken');

const NOW = Date.UTC(2026, 0, 31, 12);

/** Redrives one letter of acme, whose run has this outcome. */
async function redriven(outcome: OutcomeCode, more: { attempt?: number; error?: Error } = {}) {
  const clock = fastClock(NOW);
  const deadLetters = memoryDeadLetters();
  await deadLetters.put(deadLetter({ tenant: 'acme' }));
  const [before] = (await deadLetters.list()).letters;
  const told: RedriveProgress[] = [];
  const given: (Pick<DeliverOptions, 'source' | 'tenant'> & { webhookId?: string })[] = [];
  const retries: [failures: number, pauseMs: number][] = [];
  const deliver = async (letter: { webhookId?: string }, options: DeliverOptions = {}) => {
    const { source, tenant } = options;
    given.push({ source, tenant, webhookId: letter.webhookId } as never);
    return { outcome, status: OUTCOMES[outcome].status, ...more };
  };
  const running = redrive({
    ...{ deadLetters, clock, receiver: { deliver: deliver as never } },
    defaultTenant: 'another',
    onProgress: (progress) => void told.push(progress),
    onRetry: ({ failures, pauseMs }) => void retries.push([failures, pauseMs]),
  });
  const result = await running.catch((error: unknown) => error);
  const [after] = (await deadLetters.list()).letters;
  return { before, after, told, given, retries, result };
}

type Count = keyof typeof NOTHING;

/** What each outcome counts as, whether the letter stays, and whether it has a new error. */
const COUNTED: [OutcomeCode, Count, kept: boolean, isFailure: boolean][] = [
  ['handled', 'handled', false, false],
  ['queued', 'queued', false, false],
  ['duplicate', 'alreadyHandled', false, false],
  ['deadline', 'unknown', true, false],
  ['dead-lettered', 'failed', true, true],
  ['handler-failed', 'failed', true, true],
  ['invalid-payload', 'failed', true, true],
  ['body-too-large', 'failed', true, true],
  ['in-progress', 'skipped', true, false],
  ['in-dead-letters', 'skipped', true, false],
  ['ignored', 'skipped', true, false],
  ['secret-unavailable', 'skipped', true, false],
];

describe('a redrive of one dead letter', () => {
  it.each(COUNTED)('that is %s counts it as %s', async (outcome, count, kept, isFailure) => {
    const { before, after, told, given, retries, result } = await redriven(outcome);
    const counts = { ...NOTHING, [count]: 1 };
    expect(result).toEqual(counts);
    expect(told).toEqual([
      {
        ...{ ...counts, total: 1, id: before!.id, result: count, outcome },
        letter: expect.objectContaining({ id: before!.id, tenant: 'acme' }),
      },
    ]);
    expect(given).toEqual([{ source: 'redrive', tenant: 'acme', webhookId: before!.webhookId }]);
    expect(retries).toEqual([]);
    if (!kept) expect(after).toBeUndefined();
    else if (!isFailure) expect(after).toEqual(before);
    else
      expect(after).toEqual({
        ...{ ...before, source: 'redrive', error: outcome, failedAt: new Date(NOW) },
        history: [
          ...before!.history,
          { at: new Date(NOW), source: 'redrive', attempt: 3, error: outcome },
        ],
      });
  });

  it('that fails has the attempt and the error of its run', async () => {
    const { before, after } = await redriven('handler-failed', { attempt: 7, error: ERROR });
    expect(after).toMatchObject({ attempt: 7, error: 'Error: still broken', source: 'redrive' });
    expect(after!.history).toMatchObject([
      before!.history[0]!,
      { source: 'redrive', attempt: 7, error: 'Error: still broken' },
    ]);
  });

  it.each([
    ['store-unavailable', 10],
    ['overloaded', 10],
    ['shutting-down', 0],
  ] as const)(
    'that is %s ends it after %d retries, and gives it back',
    async (outcome, retried) => {
      const own = new WebhookError(outcome, 'why');
      for (const [more, message] of [
        [{ error: own }, 'why'],
        [{}, outcome],
      ] as const) {
        const { before, after, told, given, retries, result } = await redriven(outcome, more);
        expect((result as Error).message).toBe(message);
        expect(given).toHaveLength(1 + retried);
        expect(retries).toEqual(
          Array.from({ length: retried }, (_, index) => [index + 1, (index + 1) * 500]),
        );
        expect(told).toEqual([]);
        expect(after).toEqual(before);
      }
    },
  );

  it('whose receiver throws gives it back, and rejects with that', async () => {
    const deadLetters = memoryDeadLetters();
    await deadLetters.put(deadLetter());
    const [before] = (await deadLetters.list()).letters;
    const error = new Error('no such tenant');
    const redriving = redrive({ deadLetters, receiver: { deliver: () => Promise.reject(error) } });
    await expect(redriving).rejects.toBe(error);
    expect((await deadLetters.list()).letters).toEqual([before]);
  });

  it('is of every outcome that a delivery without a request can have', () => {
    const known = new Set<string>([
      ...COUNTED.map(([outcome]) => outcome),
      ...['store-unavailable', 'overloaded', 'shutting-down'],
    ]);
    // These are responses to requests, which a redrive makes none of.
    expect(
      Object.keys(OUTCOMES)
        .filter((outcome) => !known.has(outcome))
        .sort(),
    ).toEqual([
      ...['body-already-parsed', 'body-timeout', 'malformed-header', 'method-not-allowed'],
      ...['missing-header', 'replayed', 'signature-mismatch', 'timestamp-out-of-tolerance'],
      'unsupported-encoding',
    ]);
  });
});

describe('a redrive by ids for a tenant', () => {
  it('runs the letters of this tenant alone, neither those of others nor those of none', async () => {
    const deadLetters = memoryDeadLetters();
    for (const tenant of ['acme', 'globex', undefined])
      await deadLetters.put(deadLetter({ ...(tenant && { tenant }), key: `k-${String(tenant)}` }));
    const { letters } = await deadLetters.list();
    const ran: unknown[] = [];
    const told: RedriveProgress[] = [];
    const deliver = async ({ key }: { key?: string }) => {
      ran.push(key);
      return { outcome: 'handled' };
    };
    const result = await redrive({
      ...{ deadLetters, receiver: { deliver: deliver as never }, concurrency: 1 },
      ...{ tenant: 'acme', ids: [...letters.map(({ id }) => id), 'nobody'] },
      onProgress: (progress) => void told.push(progress),
    });
    expect(result).toEqual({ ...NOTHING, handled: 1, skipped: 2, notFound: 1 });
    expect(ran).toEqual(['k-acme']);
    expect(
      told.map(({ id, result: count, reason, total }) => [
        letters.find((one) => one.id === id)?.key ?? id,
        ...[count, reason, total],
      ]),
    ).toEqual(
      [...letters, { key: 'nobody' }].map(({ key }) => {
        if (key === 'nobody') return [key, 'notFound', undefined, 4];
        return key === 'k-acme'
          ? [key, 'handled', undefined, 4]
          : [key, 'skipped', 'other-tenant', 4];
      }),
    );
  });
});

describe('what a redrive counts', () => {
  it('is each of its letters once, in figures that all differ, and what each of them was', async () => {
    const deadLetters = memoryDeadLetters();
    /** How many letters have each of the outcomes. */
    const outcomes: [OutcomeCode, number][] = [
      ['handled', 7],
      ['queued', 6],
      ['handler-failed', 3],
      ['dead-lettered', 2],
      ['duplicate', 4],
      ['deadline', 3],
      ['ignored', 1],
    ];
    const of = new Map<string, OutcomeCode>();
    for (const [outcome, count] of outcomes)
      for (let index = 0; index < count; index++) {
        const key = `${outcome}-${String(index)}`;
        of.set(key, outcome);
        await deadLetters.put(deadLetter({ key }));
      }
    await deadLetters.put(deadLetter({ key: 'claimed' }));
    const { letters } = await deadLetters.list({ limit: 100 });
    const claimed = letters.find(({ key }) => key === 'claimed')!;
    await deadLetters.claim(claimed.id, { token: 'another', leaseMs: 60_000 });
    const told: RedriveProgress[] = [];
    const deliver = async ({ key = '' }: { key?: string }) => ({ outcome: of.get(key)! });
    const result = await redrive({
      ...{ deadLetters, receiver: { deliver: deliver as never }, concurrency: 3 },
      ids: [...letters.map(({ id }) => id), 'nobody'],
      onProgress: (progress) => void told.push(progress),
    });
    expect(result).toEqual({
      ...{ handled: 7, queued: 6, failed: 5, alreadyHandled: 4, unknown: 3, skipped: 2 },
      notFound: 1,
    });
    expect(await deadLetters.count()).toBe(5 + 3 + 2);
    expect(told).toHaveLength(28);
    expect(new Set(told.map(({ total }) => total))).toEqual(new Set([28]));
    expect(told.at(-1)).toMatchObject(result);
    for (const { id, letter, outcome, reason, result: count } of told) {
      const own = letters.find((one) => one.id === id);
      expect(letter?.key).toBe(own?.key);
      if (!own) expect([count, outcome, reason]).toEqual(['notFound', undefined, undefined]);
      else if (own === claimed) expect([count, reason]).toEqual(['skipped', 'claimed']);
      else expect([outcome, reason]).toEqual([of.get(own.key!), undefined]);
    }
    // Each step of the progress adds one.
    expect(
      told.map((one) => Object.keys(NOTHING).reduce((sum, name) => sum + one[name as Count], 0)),
    ).toEqual(told.map((_, index) => index + 1));
  });
});
