import { describe, expect, it } from '@jest/globals';
import { OUTCOMES, WebhookError, type OutcomeCode } from '@call-webhooks/core';
import {
  reconcile,
  type ReconciledEvent,
  type ReconcileResult,
  type StoreRetry,
} from '@call-webhooks/recovery';
import { call, clock, listing, since } from '../support/call-lists.ts';
import { fastClock } from '../support/fast-clock.ts';
import { DAY, HOUR, MINUTE, STARTED_AT } from '../support/world.ts';

const NOTHING = {
  ...{ seen: 0, missed: 0, handled: 0, known: 0, inDeadLetters: 0 },
  ...{ failed: 0, ignored: 0, skipped: 0, stoppedEarly: false },
};

/** A run over one call, whose event has this outcome. */
async function runWith(
  delivered: { outcome: OutcomeCode; attempt?: number; error?: Error },
  of: object = {},
) {
  const own = fastClock(clock.now());
  const cursors = new Map<string, string>();
  const told: ReconciledEvent[] = [];
  const retries: StoreRetry[] = [];
  let deliveries = 0;
  const { client } = listing([[call(15, of)]]);
  const running = reconcile({
    ...{ client, since, clock: own },
    receiver: {
      deliver: async () => {
        deliveries += 1;
        return delivered as never;
      },
    },
    store: {
      rememberFor: DAY,
      loadCursor: async (name) => cursors.get(name),
      saveCursor: async (name, cursor) => {
        if (cursor === undefined) cursors.delete(name);
        else cursors.set(name, cursor);
      },
    },
    onEvent: (event) => void told.push(event),
    onRetry: (retry) => void retries.push(retry),
  });
  const result = await running.then(
    (counts) => counts,
    (error: unknown) => error,
  );
  return { result, told, retries, deliveries, cursors, tookMs: own.now() - clock.now() };
}

const COVERED = new Map([
  [
    'call-webhooks.covered',
    JSON.stringify({
      'call:completed': [{ since: since.getTime(), until: clock.now() - 10 * MINUTE }],
    }),
  ],
]);

/** What each outcome of an event counts as; all others mean that the receiver can take nothing now. */
const COUNTED: [outcome: OutcomeCode, attempt: number | undefined, counts: object][] = [
  ['handled', 1, { handled: 1, missed: 1 }],
  ['handled', undefined, { handled: 1, missed: 1 }],
  ['handled', 2, { handled: 1 }],
  ['queued', undefined, { handled: 1, missed: 1 }],
  ['duplicate', undefined, { known: 1 }],
  ['in-dead-letters', undefined, { inDeadLetters: 1 }],
  ['in-progress', undefined, { known: 1 }],
  ['in-progress', 1, { failed: 1, missed: 1 }],
  ['in-progress', 2, { failed: 1 }],
  ['ignored', undefined, { ignored: 1 }],
  ['handler-failed', 1, { failed: 1, missed: 1 }],
  ['handler-failed', 2, { failed: 1 }],
  ['dead-lettered', 1, { failed: 1, missed: 1 }],
  ['dead-lettered', 3, { failed: 1 }],
  ['deadline', 1, { failed: 1, missed: 1 }],
  ['invalid-payload', undefined, { failed: 1, missed: 1 }],
  ['body-too-large', undefined, { failed: 1, missed: 1 }],
];

describe('what a run counts, tells, and keeps as covered', () => {
  it.each(COUNTED)('of an event that is %s at attempt %s', async (outcome, attempt, counts) => {
    const run = await runWith({ outcome, ...(attempt !== undefined && { attempt }) });
    expect(run.result).toEqual({ ...NOTHING, seen: 1, ...counts });
    expect(run.told).toEqual([
      {
        callId: 'c15',
        event: { eventName: 'call:completed', callId: 'c15' },
        at: new Date(STARTED_AT + 15 * HOUR + MINUTE),
        outcome,
        missed: 'missed' in counts,
      },
    ]);
    // What failed is looked for again: its time is not done.
    expect(run.cursors).toEqual('failed' in counts ? new Map() : COVERED);
    expect([run.deliveries, run.retries]).toEqual([1, []]);
  });
});

it.each([
  ['when it ended', { endedAt: STARTED_AT + 16 * HOUR }, 16],
  ['when it was created, if its end is no time', { endedAt: 'soon' }, 15],
  ['when it was created, if its end is null', { endedAt: null }, 15],
  ['when it was created, if its end is 0', { endedAt: 0 }, 15],
  ['when it was created, if its end is in the year 1', { endedAt: '0001-01-01T00:00:00Z' }, 15],
  ['when it was dialed, if that is earlier', { endedAt: 0, startedAt: STARTED_AT + 14 * HOUR }, 14],
])('the event of a call has the time %s', async (_what, of, hour) => {
  const { told } = await runWith({ outcome: 'handled', attempt: 1 }, of);
  expect(told.map(({ at }) => at)).toEqual([new Date(STARTED_AT + hour * HOUR)]);
});

describe('what a run counts of many events', () => {
  it('is each of them once, in figures that all differ, and so is its progress', async () => {
    const outcomes: [outcome: OutcomeCode, attempt: number | undefined, count: number][] = [
      ['handled', 1, 5],
      ['queued', undefined, 3],
      ['handled', 2, 2],
      ['duplicate', undefined, 7],
      ['in-progress', undefined, 2],
      ['in-dead-letters', undefined, 5],
      ['handler-failed', 1, 3],
      ['dead-lettered', 3, 1],
      ['ignored', undefined, 2],
    ];
    const of = new Map(
      outcomes.flatMap(([outcome, attempt, count], kind) =>
        Array.from({ length: count }, (_, index) => [
          `${String(kind)}-${String(index)}`,
          { outcome, ...(attempt !== undefined && { attempt }) },
        ]),
      ),
    );
    const calls = [...of.keys()].map((_id) => call(15, { _id }));
    const before = [call(11), call(10, { _id: 'old' })];
    const { client } = listing([[...calls, ...before], [{ _id: 'undated' }]]);
    const [told, progress]: [ReconciledEvent[], ReconcileResult[]] = [[], []];
    const result = await reconcile({
      ...{ client, since, clock, store: { rememberFor: DAY }, concurrency: 4 },
      receiver: { deliver: async ({ callId = '' }) => of.get(callId) as never },
      onEvent: (event) => void told.push(event),
      onProgress: (counts) => void progress.push(counts),
    });
    expect(result).toEqual({
      ...{ seen: 30, missed: 11, handled: 10, known: 9, inDeadLetters: 5 },
      ...{ failed: 4, ignored: 2, skipped: 1, stoppedEarly: false },
    });
    expect(told.map(({ callId, outcome }) => [callId, outcome]).sort()).toEqual(
      [...of].map(([id, { outcome }]) => [id, outcome]).sort(),
    );
    expect(told.filter(({ missed }) => missed)).toHaveLength(11);
    expect(progress.map(({ seen }) => seen).at(-1)).toBe(30);
    expect(progress).toHaveLength(30);
    expect({ ...progress.at(-1), skipped: 1 }).toEqual(result);
  });
});

describe('a receiver that can take nothing now', () => {
  const own = new Error('why');

  it.each([
    ['overloaded', 10],
    ['store-unavailable', 10],
    ['secret-unavailable', 10],
    ['shutting-down', 0],
  ] as const)('stops the run with %s after %d retries', async (outcome, retried) => {
    const run = await runWith({ outcome });
    expect(run.result).toBeInstanceOf(WebhookError);
    expect(run.result).toMatchObject({ code: outcome });
    expect((run.result as Error).message).toBe(`reconcile: ${OUTCOMES[outcome].when}`);
    expect(run.retries.map(({ failures, pauseMs }) => [failures, pauseMs])).toEqual(
      Array.from({ length: retried }, (_, index) => [index + 1, (index + 1) * 500]),
    );
    expect(run.deliveries).toBe(1 + retried);
    expect(run.tookMs).toBe(retried === 0 ? 0 : 27_500);
    expect([run.told, run.cursors]).toEqual([[], new Map()]);

    const withError = await runWith({ outcome, error: own });
    expect(withError.result).toBe(own);
    expect(withError.retries.map(({ error }) => error)).toEqual(Array(retried).fill(own));
  });

  it('is every one that no count has', () => {
    const counted = new Set<string>(COUNTED.map(([outcome]) => outcome));
    const stopping = ['overloaded', 'store-unavailable', 'secret-unavailable', 'shutting-down'];
    const ofRequests = Object.keys(OUTCOMES).filter(
      (outcome) => !counted.has(outcome) && !stopping.includes(outcome),
    );
    // These are responses to requests, which a reconciled event has none of.
    expect(ofRequests.sort()).toEqual([
      ...['body-already-parsed', 'body-timeout', 'malformed-header', 'method-not-allowed'],
      ...['missing-header', 'replayed', 'signature-mismatch', 'timestamp-out-of-tolerance'],
      'unsupported-encoding',
    ]);
  });
});
