import { describe, expect, it } from '@jest/globals';
import { counterName, type LogProcess } from '@call-webhooks/core/stores';
import { COMPLETED, RECORDING, STARTED } from '../status/service-model.ts';
import { ack, minutesAgo, rowAt } from '../status/written-log.ts';
import {
  ago,
  outcome,
  handledAt,
  handled,
  explained,
  reason,
  RAN,
  DOWN,
  MAY,
  PAUSES,
  SECRETS,
  FAILED,
  type Told,
} from './explained.ts';

describe('a time in which nothing came', () => {
  const minutes = minutesAgo(handledAt(60, 20));
  const silent = { from: ago(60), until: ago(20) };
  const between = 'No delivery reached any process from 13:00 to 13:40.';

  it('is one reason for all events of it, whatever their names', async () => {
    const missed = [
      [50, COMPLETED],
      [45, RECORDING],
      [44, COMPLETED],
    ] as const;
    expect(await explained({ counts: { minutes } }, missed)).toEqual([
      reason({
        ...{ kind: 'silence', missed: 3, ...silent, wasRunning: true },
        text: `${between} ${RAN}`,
      }),
    ]);
  });

  it.each<[what: string, processes: readonly Partial<LogProcess>[], wasRunning: boolean]>([
    ['began a minute after the silence', [{ startedAt: ago(59) }], true],
    ['began later', [{ startedAt: ago(59) + 1 }], false],
    ['was seen when it ended', [{ at: ago(20) }], true],
    ['was seen last before it ended', [{ at: ago(20) - 1 }], false],
    ['is another one than before', [{ at: ago(40) }, { startedAt: ago(40) }], false],
    ['is one of several', [{ at: ago(40) }, { startedAt: ago(70) }], true],
  ])('with a process that %s', async (_what, processes, wasRunning) => {
    expect(await explained({ counts: { minutes }, processes }, [[50, COMPLETED]])).toEqual([
      reason({
        ...{ kind: 'silence', ...silent, wasRunning },
        text: `${between} ${wasRunning ? RAN : DOWN}`,
      }),
    ]);
  });

  it('that goes on, or that has no beginning, has no end, or no beginning', async () => {
    const [since, before] = [minutesAgo(handledAt(60)), minutesAgo(handledAt(20))];
    expect(await explained({ counts: { minutes: since } }, [[50, COMPLETED]])).toEqual([
      reason({
        ...{ kind: 'silence', from: ago(60) },
        text: `No delivery reached any process since 13:00. ${MAY}`,
      }),
    ]);
    expect(await explained({ counts: { minutes: before } }, [[50, COMPLETED]])).toEqual([
      reason({
        ...{ kind: 'silence', until: ago(20) },
        text: `No delivery reached any process before 13:40. ${MAY}`,
      }),
    ]);
    expect(await explained({}, [[50, COMPLETED]])).toEqual([
      reason({ kind: 'silence', text: `No delivery reached any process. ${MAY}` }),
    ]);
  });

  it.each([
    ['began after the event was missed', [{ startedAt: ago(50) + 1 }], true],
    ['began when the event was missed', [{ startedAt: ago(50) }], false],
    ['has never written', [], true],
  ])('before the log of a process that %s is unknown: %s', async (_what, processes, isUnknown) => {
    const counts = { minutes: minutesAgo(handledAt(20)) };
    const [found] = await explained({ counts, processes }, [[50, COMPLETED]]);
    expect(found?.kind).toBe(isUnknown ? 'unknown' : 'silence');
  });

  it.each([
    [47, 'event-silence'],
    [46, 'silence'],
  ])(
    'ends with a delivery %d minutes ago, if that is more than 3 minutes later',
    async (next, kind) => {
      const counts = { minutes: minutesAgo(handledAt(60, next)) };
      const marks = { [ack(COMPLETED)]: ago(70) };
      const [found] = await explained({ counts, marks }, [[50, COMPLETED]]);
      expect(found?.kind).toBe(kind);
    },
  );

  it('has the failures of the half hour before, without those that were acknowledged later', async () => {
    const counts = {
      minutes: minutesAgo({
        ...handledAt(65, 20),
        90: { [outcome('handler-failed')]: 100 },
        89: { [outcome('handler-failed')]: 2, [outcome('duplicate')]: 50 },
        75: { [outcome('handler-failed', COMPLETED, 'reconcile')]: 40 },
        70: { [outcome('handler-failed')]: 3, [outcome('overloaded', '')]: 1 },
        60: { [outcome('handled')]: 1, [outcome('handler-failed')]: 4 },
        59: { [outcome('handled', STARTED, 'queue')]: 30 },
      }),
    };
    const failures = [
      rowAt(70, { key: 'acknowledged', eventName: STARTED }),
      rowAt(70, { key: 'late', eventName: STARTED }),
    ];
    const rows = [
      handled(65, { key: 'acknowledged', eventName: STARTED }),
      handled(65, { key: 'late', eventName: STARTED, late: true }),
      handled(65, { key: 'late', eventName: STARTED, source: 'reconcile' }),
    ];
    expect(await explained({ counts, failures, rows }, [[50, COMPLETED]])).toEqual([
      reason({
        ...{ kind: 'silence', ...silent, wasRunning: true, failedBefore: 8 },
        text: `${between} ${RAN.replace(' Check', ` In the half hour before, 8 deliveries failed and were not acknowledged later. ${PAUSES} Check`)}`,
      }),
    ]);
  });

  it.each(['handled', 'duplicate', 'queued', 'dead-lettered', 'in-dead-letters'] as const)(
    'has no failures of an event that was %s later',
    async (later) => {
      const counts = {
        minutes: minutesAgo({ ...handledAt(60), 70: { [outcome('handler-failed')]: 2 } }),
      };
      const failures = ['k', 'open'].map((key) => rowAt(70, { key, eventName: STARTED }));
      const rows = [rowAt(65, { key: 'k', eventName: STARTED, outcome: later })];
      const [found] = await explained({ counts, failures, rows }, [[50, COMPLETED]]);
      expect(found).toEqual(
        reason({
          ...{ kind: 'silence', from: ago(60), failedBefore: 1 },
          text: `No delivery reached any process since 13:00. ${MAY} In the half hour before, 1 delivery failed and was not acknowledged later. ${PAUSES}`,
        }),
      );
    },
  );

  it.each([
    ['handled', 2],
    ['dead-lettered', 2],
    ['running', 4],
    ['failed', 4],
  ] as const)(
    'has no failures of an event that the store knows as %s, whatever rows a busy process has left out',
    async (state, failedBefore) => {
      // 4 failed, and only 2 of them have a row; no row tells of an acknowledgement.
      const counts = {
        minutes: minutesAgo({ ...handledAt(60), 70: { [outcome('handler-failed')]: 4 } }),
      };
      const failures = ['k', 'open'].map((key) => rowAt(70, { key, eventName: STARTED }));
      const states = { k: state };
      const [found] = await explained({ counts, failures, states }, [[50, COMPLETED]]);
      expect(found?.failedBefore).toBe(failedBefore);
      const all = await explained({ counts, failures, states: { ...states, open: state } }, [
        [50, COMPLETED],
      ]);
      expect(all[0]?.failedBefore).toBe(failedBefore === 2 ? 0 : 4);
    },
  );

  it('has the failures of an event that only a reconcile has handled: the service gave it up', async () => {
    const counts = {
      minutes: minutesAgo({ ...handledAt(60), 70: { [outcome('handler-failed')]: 1 } }),
    };
    const failures = [rowAt(70, { key: 'k', eventName: STARTED })];
    const rows = [handled(55, { key: 'k', eventName: STARTED, source: 'reconcile' })];
    const world = { counts, failures, rows, states: { k: 'handled' } } as const;
    expect((await explained(world, [[50, COMPLETED]]))[0]?.failedBefore).toBe(1);
  });

  it('asks the store about many events in several calls', async () => {
    const keys = Array.from({ length: 501 }, (_, at) => `k${String(at)}`);
    const counts = {
      minutes: minutesAgo({ ...handledAt(60), 70: { [outcome('handler-failed')]: 501 } }),
    };
    const failures = keys.map((key) => rowAt(70, { key, eventName: STARTED }));
    const states = Object.fromEntries(keys.map((key) => [key, 'handled' as const]));
    const [found] = await explained({ counts, failures, states }, [[50, COMPLETED]]);
    expect(found?.failedBefore).toBe(0);
  });
});

describe('an event that arrived, and that the store has forgotten', () => {
  it('is not said to be rejected or lost, whatever else came at that time', async () => {
    const counts = { minutes: minutesAgo({ 50: { [outcome('signature-mismatch', '')]: 1 } }) };
    const failures = [50, 45].map((minutes) =>
      rowAt(minutes, { key: 'k', eventName: COMPLETED, attempt: 2 }),
    );
    const rows = [rowAt(40, { key: 'k', eventName: COMPLETED, outcome: 'dead-lettered' })];
    const missed = [
      [50, COMPLETED, 'k'],
      [50, COMPLETED, 'other'],
    ] as const;
    expect(await explained({ counts, failures, rows }, missed)).toEqual([
      reason({
        ...{ kind: 'unknown', outcomes: ['handler-failed', 'dead-lettered'], until: ago(49) },
        text: 'Deliveries of these events arrived and were verified (`handler-failed`, `dead-lettered`), so nothing was lost on the way. The store no longer knows the events: it forgets them after its `rememberFor`, and when they are erased.',
      }),
      reason({
        ...{ kind: 'rejected', outcomes: ['signature-mismatch'], from: ago(50), until: ago(49) },
        text: SECRETS('`signature-mismatch`'),
      }),
    ]);
  });

  it('does not hide what happened to an event whose requests were not verified', async () => {
    const counts = { minutes: minutesAgo({ 50: { [outcome('signature-mismatch', '')]: 1 } }) };
    const { webhookId: _, ...unverified } = rowAt(50, { key: 'k', outcome: 'signature-mismatch' });
    const rows = [unverified, rowAt(49, { key: 'k', outcome: 'handled', source: 'redrive' })];
    const [found] = await explained({ counts, rows }, [[50, COMPLETED, 'k']]);
    expect(found?.kind).toBe('rejected');
  });
});

describe('deliveries that came when an event was missed', () => {
  const during = (names: readonly string[], minute = 50) => ({
    counts: {
      minutes: minutesAgo({ [minute]: Object.fromEntries(names.map((name) => [name, 1])) }),
    },
  });
  const own = { from: ago(50), until: ago(49) };

  it.each<[what: string, names: readonly string[], told: Told]>([
    [
      'could not be verified',
      [outcome('missing-header', ''), outcome('signature-mismatch', ''), outcome('overloaded', '')],
      reason({
        ...{ kind: 'rejected', outcomes: ['signature-mismatch', 'missing-header'], ...own },
        text: SECRETS('`signature-mismatch`, `missing-header`'),
      }),
    ],
    [
      'failed before their event was known',
      [outcome('store-unavailable', ''), outcome('body-timeout', '')],
      reason({
        ...{ kind: 'failed', outcomes: ['body-timeout', 'store-unavailable'], ...own },
        text: FAILED('`body-timeout`, `store-unavailable`'),
      }),
    ],
    [
      'were of the same event and invalid',
      [outcome('invalid-payload', COMPLETED)],
      reason({
        ...{ kind: 'failed', outcomes: ['invalid-payload'], ...own },
        text: FAILED('`invalid-payload`'),
      }),
    ],
  ])('and %s are the reason', async (_what, names, told) => {
    expect(await explained(during(names), [[50, COMPLETED]])).toEqual([told]);
    // A delivery comes within 3 minutes.
    expect(await explained(during(names, 47), [[50, COMPLETED]])).toEqual([told]);
    const [later] = await explained(during(names, 46), [[50, COMPLETED]]);
    expect(later?.kind).toBe('silence');
    // What came before says nothing of it.
    const minutes = { ...during(names, 51).counts.minutes, ...minutesAgo(handledAt(50)) };
    const [earlier] = await explained({ counts: { minutes } }, [[50, COMPLETED]]);
    expect(earlier?.kind).toBe('event-silence');
  });

  it('are no reason if they were of another event, were replays, or failed in their handler', async () => {
    for (const name of [
      outcome('invalid-payload', RECORDING),
      outcome('replayed', ''),
      outcome('handler-failed', COMPLETED),
    ]) {
      const [found] = await explained(during([name]), [[50, COMPLETED]]);
      expect([name, found?.kind]).toEqual([name, 'event-silence']);
    }
  });

  it('are those of the tenant whose calls they are', async () => {
    const rejected = (tenant: string) => counterName('rejected', 'signature-mismatch', tenant);
    const both = [outcome('signature-mismatch', ''), rejected('globex')];
    const [other] = await explained({ ...during(both), tenant: 'acme' }, [[50, COMPLETED]]);
    expect(other?.kind).toBe('event-silence');
    expect(await explained({ ...during(both), tenant: 'globex' }, [[50, COMPLETED]])).toEqual([
      reason({
        ...{ kind: 'rejected', outcomes: ['signature-mismatch'], ...own },
        text: SECRETS('`signature-mismatch`'),
      }),
    ]);
  });

  it('are one reason as long as the kind is the same, with all outcomes, until the last one', async () => {
    const counts = {
      minutes: minutesAgo({
        50: { [outcome('overloaded', '')]: 1 },
        40: { [outcome('shutting-down', '')]: 1, [outcome('overloaded', '')]: 1 },
      }),
    };
    const missed = [
      [40, COMPLETED],
      [50, COMPLETED],
    ] as const;
    expect(await explained({ counts }, missed)).toEqual([
      reason({
        ...{ kind: 'failed', missed: 2, outcomes: ['overloaded', 'shutting-down'] },
        ...{ from: ago(50), until: ago(39) },
        text: FAILED('`overloaded`, `shutting-down`'),
      }),
    ]);
  });
});
