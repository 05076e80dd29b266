import { describe, expect, it } from '@jest/globals';
import { collectingLogger, deferred } from '@call-webhooks/contract-tests';
import { memoryStore, type Store } from '@call-webhooks/core';
import { tenantKey } from '@call-webhooks/core/internal';
import { startReconciler, type MissedReport, type ReconcilerOptions } from '../../src/index.ts';
import { fastClock } from '../support/fast-clock.ts';

// Alerts are made of these lines, and hooks get these objects: each has all of its fields, and no others.

const NOW = Date.UTC(2026, 0, 31, 12);
const MINUTE = 60_000;
const docs = (page: string) => `https://call-webhooks.github.io/call-webhooks/${page}`;
const SINCE = new Date(NOW - 120 * MINUTE);
const UNTIL = new Date(NOW - 10 * MINUTE);

/** What the receiver does with the event of each call. */
type Outcomes = Readonly<Record<string, { outcome: string; attempt?: number }>>;

/** Runs a reconciler until it has told of its first run. */
async function reconciled(
  outcomes: Outcomes | Error,
  {
    tenant,
    down,
    ...options
  }: Partial<ReconcilerOptions> & { down?: (store: Store) => object } = {},
) {
  const clock = fastClock(NOW);
  const logger = collectingLogger();
  const over = deferred();
  const told = { missed: [] as MissedReport[], runs: [] as unknown[], errors: [] as unknown[] };
  const memory = { ...memoryStore({ now: clock.now }), rememberFor: 86_400_000 };
  const store = { ...memory, ...down?.(memory) };
  const createdAt = new Date(NOW - 60 * MINUTE).toISOString();
  const list = () =>
    outcomes instanceof Error
      ? Promise.reject(outcomes)
      : Promise.resolve({
          results: Object.keys(outcomes).map((_id) => ({ _id, createdAt, endedAt: createdAt })),
          hasNext: false,
        });
  const deliver = (event: { callId?: string }) =>
    Promise.resolve((outcomes as Outcomes)[event.callId ?? '']);
  const reconciler = startReconciler({
    client: { baseUrl: 'http://service', calls: { list, recording: list } } as never,
    receiver: { deliver } as never,
    ...{ store, clock, logger, since: SINCE, tenant, ...options },
    onMissed: (report) => void told.missed.push(report),
    onRun: (result) => {
      told.runs.push(result);
      over.resolve();
    },
    onError: (error) => {
      told.errors.push(error);
      over.resolve();
    },
  });
  await over.promise;
  await reconciler.close();
  return { ...told, lines: logger.entries, store };
}

const NONE = { seen: 0, missed: 0, handled: 0, known: 0, inDeadLetters: 0, failed: 0 };
const REST = { ignored: 0, skipped: 0, stoppedEarly: false };
const HANDLED = { outcome: 'handled', attempt: 1 };
const FAILED = { outcome: 'handler-failed', attempt: 1 };
const NOTHING_ARRIVED = (events: string, dryRun = '') =>
  `call-webhooks: no delivery arrived for ${events} of the service's calls.${dryRun} A rule may be paused. Look at your rules in the service's web application, under Rules.`;
const DRY = ' This is a dry run, so nothing was run.';
const UNKNOWN =
  ' The store knows none of the events of these calls: check that the client lists the calls of this receiver, and that the tenant is right.';

describe.each([[{}], [{ tenant: 'acme' }]])('the lines of a reconciler (%j)', (of) => {
  const window = { since: SINCE, until: UNTIL };

  it('say nothing of a run that found everything', async () => {
    const { lines, missed, runs } = await reconciled(
      { a: { outcome: 'duplicate' }, b: { outcome: 'in-dead-letters' } },
      of,
    );
    expect([lines, missed]).toEqual([[], []]);
    expect(runs).toEqual([{ ...NONE, ...REST, seen: 2, known: 1, inDeadLetters: 1 }]);
  });

  it.each([
    [{ a: HANDLED }, '1 event', { missed: 1, handled: 1 }],
    [{ a: HANDLED, b: { outcome: 'queued', attempt: 1 } }, '2 events', { missed: 2, handled: 2 }],
  ])('say that events were missed, and where to look: %j', async (outcomes, events, counts) => {
    const result = { ...NONE, ...REST, seen: counts.missed, ...counts };
    const callIds = Object.keys(outcomes);
    const { lines, missed, runs, errors } = await reconciled(outcomes, of);
    expect([missed, runs, errors]).toEqual([
      [{ missed: counts.missed, callIds, ...window, result }],
      ...[[result], []],
    ]);
    expect(lines).toEqual([
      {
        level: 'error',
        fields: {
          ...{ ...of, ...result, ...window, callIds },
          docs: docs('recovery.html#when-events-go-missing'),
        },
        message: NOTHING_ARRIVED(events),
      },
    ]);
  });

  it.each([
    [{ a: { ...FAILED, attempt: 2 } }, 1, '1 event', 'it again, unless it is a dead letter now'],
    [
      { a: { ...FAILED, attempt: 2 }, b: { ...FAILED, attempt: 3 } },
      ...[2, '2 events', 'them again, unless they are dead letters now'],
    ],
  ] as const)('say that events failed: %j', async (outcomes, failed, events, again) => {
    const { lines, missed } = await reconciled(outcomes, of);
    expect(missed).toEqual([]);
    expect(lines).toEqual([
      {
        level: 'warn',
        fields: {
          ...{ ...of, failed, ...window },
          docs: docs('recovery.html#events-that-fail-during-a-run'),
        },
        message: `call-webhooks: ${events} that had been missed, or had failed earlier, failed in this run. The next run runs ${again}.`,
      },
    ]);
  });

  it('say that a dry run has run nothing, and when the store knows none of the events', async () => {
    const { lines } = await reconciled({ a: HANDLED }, { ...of, dryRun: true });
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ['error', NOTHING_ARRIVED('1 event', DRY) + UNKNOWN],
    ]);
    const known = (store: Store) => ({
      peek: async (keys: readonly string[]) => {
        const states = (await store.peek?.(keys)) ?? [];
        const [key = ''] = keys;
        return key.includes('known') ? ['failed'] : states;
      },
    });
    const some = await reconciled(
      { a: HANDLED, known: FAILED, 'also-known': FAILED },
      { ...of, dryRun: true, down: known },
    );
    expect(some.lines.map(({ level, message }) => [level, message])).toEqual([
      ['error', NOTHING_ARRIVED('1 event', DRY)],
      [
        'warn',
        'call-webhooks: 2 events have failed and were not handled so far. This is a dry run, so nothing was run.',
      ],
    ]);
  });

  it.each(['handled', 'running', 'failed', 'dead-lettered'] as const)(
    'have no doubt of a dry run once the store knows an event as %s',
    async (state) => {
      const down = () => ({
        peek: async ([key = '']: readonly string[]) => [key.includes('known') ? state : undefined],
      });
      const { lines } = await reconciled(
        { a: HANDLED, known: HANDLED },
        { ...of, dryRun: true, down },
      );
      expect(lines[0]?.message).toBe(NOTHING_ARRIVED('1 event', DRY));
    },
  );

  it('say why a run failed, which is passed on as it is', async () => {
    const error = new Error('no route to the service');
    const { lines, errors, runs } = await reconciled(error, of);
    expect([errors, runs]).toEqual([[error], []]);
    expect(lines).toEqual([
      {
        level: 'error',
        fields: {
          ...{ ...of, err: expect.anything(), docs: docs('recovery.html#on-a-schedule') },
        },
        message:
          'call-webhooks: the reconcile failed. The next one runs after the usual interval: Error: no route to the service',
      },
    ]);
  });

  it('say that a saved time is in the future, and from when on the run looks', async () => {
    const tenant = 'tenant' in of ? of.tenant : undefined;
    const name = `${tenantKey(tenant, 'reconcile')}/schedule`;
    const ahead = (store: Store) => ({
      loadCursor: async (asked: string) =>
        asked === name
          ? JSON.stringify({ from: SINCE.getTime(), doneUntil: NOW + 3_600_000, ranAt: 0 })
          : store.loadCursor?.(asked),
    });
    const { lines } = await reconciled({}, { ...of, down: ahead });
    expect(lines).toEqual([
      {
        level: 'warn',
        fields: { ...of, since: SINCE, docs: docs('recovery.html#on-a-schedule') },
        message:
          'call-webhooks: the saved schedule of the reconciler has a time in the future, so the clock of a process was ahead. That time is ignored, and this run looks at calls that began at `since` or later. Synchronize the clocks of your machines (NTP).',
      },
    ]);
  });
});

it('a process that waited for the lease does not run what another one has run meanwhile', async () => {
  const clock = fastClock(NOW);
  const store = { ...memoryStore({ now: clock.now }), rememberFor: 86_400_000 };
  let listed = 0;
  const list = async () => {
    listed += 1;
    await new Promise<void>((resolve) => void clock.schedule(1_000, resolve));
    return { results: [], hasNext: false };
  };
  const asked = deferred();
  const admit: Store['admit'] = async (claim) => {
    // Between its look at the schedule and the lease, the other one runs.
    asked.resolve();
    while (listed === 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise<void>((resolve) => void clock.schedule(5_000, resolve));
    return store.admit(claim);
  };
  const shared = {
    client: { baseUrl: 'http://service', calls: { list, recording: list } } as never,
    receiver: { deliver: () => Promise.reject(new Error('not asked for')) } as never,
    ...{ clock, logger: collectingLogger(), since: SINCE },
  };
  const runs: string[] = [];
  const late = startReconciler({
    ...{ ...shared, store: { ...store, admit }, onRun: () => void runs.push('late') },
  });
  await asked.promise;
  const first = startReconciler({ ...shared, store, onRun: () => void runs.push('first') });
  while (clock.now() < NOW + 14 * MINUTE)
    await new Promise<void>((resolve) => void clock.schedule(MINUTE, resolve));
  await Promise.all([late.close(), first.close()]);
  expect([runs, listed]).toEqual([['first'], 1]);
});
