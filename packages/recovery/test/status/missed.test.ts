import { describe, expect, it } from '@jest/globals';
import { status } from '@call-webhooks/recovery';
import { counterName, type OutcomeRow } from '@call-webhooks/core/stores';
import { COMPLETED, DAY, HOUR, MINUTE, RECORDING } from './service-model.ts';
import { ack, NOW, periodsAgo, rowAt, statusOf, storeWith, type Written } from './written-log.ts';

describe('an event that failed before a long quiet time', () => {
  it.each([
    ['once, and may have been handled by a process that was killed', 25 * HOUR, 1, []],
    ['once, as the store knows', 23 * HOUR, 1, [{ kind: 'missed', count: 1 }]],
    [
      'twice, so that the service used up its attempts',
      25 * HOUR,
      2,
      [{ kind: 'missed', count: 1 }],
    ],
  ])('%s', async (_what, ago, attempt, expected) => {
    const failed: OutcomeRow = {
      ...{ at: NOW - ago, process: 'p', durationMs: 1, source: 'webhook', attempt },
      ...{ outcome: 'handler-failed', webhookId: 'w', eventName: COMPLETED, key: 'lost' },
    };
    const store = await storeWith({
      ...{ failures: [failed], rows: [failed] },
      marks: { [ack(COMPLETED)]: NOW - MINUTE },
    });
    const known = {
      ...store,
      rememberFor: DAY,
      peek: async (keys: readonly string[]) => keys.map(() => (ago < DAY ? 'failed' : undefined)),
    };
    const { attention } = await status({ store: known });
    expect(attention).toMatchObject(expected);
    expect(attention).toHaveLength(expected.length);
  });
});

describe('a time without recordings', () => {
  // Each call is waited for an hour, so the fourth one is missed for 10 minutes, and for 70.
  it.each([
    ['is not told if calls lacked them for less than an hour', 190, []],
    ['is told if calls lacked them for more than an hour', 250, [{ kind: 'missed', count: 4 }]],
  ])('%s', async (_what, again, expected) => {
    const from = (NOW - 12 * HOUR) / (10 * MINUTE);
    const period = (minutes: number, ...names: string[]) =>
      [
        from + minutes / 10,
        Object.fromEntries(names.map((name) => [counterName(name, ''), 1])),
      ] as const;
    const both = [COMPLETED, RECORDING];
    const arrivals = Object.fromEntries([
      ...Array.from({ length: 12 }, (_, index) => period(-110 + index * 10, ...both)),
      ...[80, 90, 100, 110].map((minutes) => period(minutes, COMPLETED)),
      period(again, ...both),
    ]);
    const marks = { [ack(COMPLETED)]: NOW - MINUTE, [ack(RECORDING)]: NOW - MINUTE };
    const store = { ...(await storeWith({ counts: { arrivals }, marks })), rememberFor: DAY };
    const { attention } = await status({ store });
    expect(attention).toMatchObject(expected);
    expect(attention).toHaveLength(expected.length);
  });
});

describe('what a dry run of a reconciler found', () => {
  const at = (hour: number) => NOW + hour * HOUR;
  const MS = 1 / HOUR;
  const report = (more: object = {}) => ({
    ...{ name: 'r', at: at(-1), since: at(-6), until: at(-2), dryRun: true },
    ...{ missed: { [COMPLETED]: 3, [RECORDING]: 0 }, ...more },
  });
  const told = async (
    covered: Record<string, readonly (readonly [since: number, until: number])[]>,
    { of = [report()], ...more }: Partial<Written> & { of?: readonly object[] } = {},
  ) => {
    const spans = Object.entries(covered).map(([name, all]) => [
      name,
      all.map(([since, until]) => ({ since: at(since), until: at(until) })),
    ]);
    const { attention } = await statusOf({
      cursors: {
        'call-webhooks.reconciled': JSON.stringify(of),
        'call-webhooks.covered': JSON.stringify(Object.fromEntries(spans)),
      },
      ...more,
    });
    return attention.map(({ kind, eventName, count, since }) => [kind, eventName, count, since]);
  };
  const THREE = [['missed', COMPLETED, 3, at(-6)]];

  it.each<[what: string, spans: readonly (readonly [number, number])[], told: unknown[]]>([
    ['nothing', [], THREE],
    ['exactly that time', [[-6, -2]], []],
    ['more than that time', [[-7, -1]], []],
    ['all but its first millisecond', [[-6 + MS, -2]], THREE],
    ['all but its last millisecond', [[-6, -2 - MS]], THREE],
    [
      'another time, and then that one',
      [
        [-9, -8],
        [-6, -2],
      ],
      [],
    ],
    [
      'both of its halves, but nothing in between',
      [
        [-6, -4],
        [-4 + MS, -2],
      ],
      THREE,
    ],
  ])('is told unless other runs have covered it: %s', async (_what, spans, expected) => {
    expect(await told({ [COMPLETED]: spans })).toEqual(expected);
    // Of another event, they say nothing.
    expect(await told({ [RECORDING]: spans })).toEqual(THREE);
  });

  it('is told no longer once the part that can still be run is covered', async () => {
    // The store remembers 4 hours, of which half an hour is left for whoever runs the command.
    const rememberFor = 4 * HOUR;
    expect(await told({ [COMPLETED]: [[-3.5, -2]] }, { rememberFor })).toEqual([]);
    expect(await told({ [COMPLETED]: [[-3.5 + MS, -2]] }, { rememberFor })).toEqual(THREE);
  });

  it('is told of a run that ran it, whatever is covered: nobody knows why it was missed', async () => {
    const of = [report({ dryRun: false })];
    expect(await told({ [COMPLETED]: [[-6, -2]] }, { of })).toEqual(THREE);
  });

  it('is told of each reconciler and each event, and of each tenant what is its own', async () => {
    const [one, other] = [
      report({ name: 'a', missed: { [COMPLETED]: 1, [RECORDING]: 2 } }),
      report({ name: 'b', since: at(-5), missed: { [RECORDING]: 4 } }),
    ];
    const spans = { [RECORDING]: [{ since: at(-5), until: at(-2) }] };
    const { attention } = await statusOf({
      marks: { [ack(COMPLETED, 'acme')]: NOW, [ack(COMPLETED, 'globex')]: NOW },
      cursors: {
        'tenant:acme:call-webhooks.reconciled': JSON.stringify([one, other]),
        'tenant:acme:call-webhooks.covered': JSON.stringify(spans),
        'tenant:globex:call-webhooks.reconciled': JSON.stringify([other]),
        'call-webhooks.covered': JSON.stringify({ [COMPLETED]: spans[RECORDING] }),
      },
    });
    expect(
      attention.map(({ tenant, eventName, count, since }) => [tenant, eventName, count, since]),
    ).toEqual([
      ['acme', COMPLETED, 1, at(-6)],
      ['acme', RECORDING, 2, at(-6)],
      ['globex', RECORDING, 4, at(-5)],
    ]);
  });

  it.each([
    ['no JSON', '['],
    ['no list', '{}'],
    ['null', 'null'],
    [
      'a list of others',
      '[7, null, {"name":"r"}, {"name":"r","at":"1","since":1,"until":2,"missed":{}}]',
    ],
  ])('is nothing if it cannot be read: %s', async (_what, text) => {
    const { attention, unknown } = await statusOf({
      cursors: { 'call-webhooks.reconciled': text },
    });
    expect([attention, unknown]).toEqual([[], undefined]);
  });
});

describe('what can still be reconciled', () => {
  const failed = counterName('failed', '', COMPLETED, 's');
  const fixOf = async (hours: number, rememberFor: number, processes: readonly number[] = []) => {
    const written = { marks: { [failed]: NOW - hours * HOUR }, rememberFor };
    const { log } = await storeWith(written);
    const of = { host: 'h', pid: 1, startedAt: NOW - DAY, at: NOW, seenAt: NOW, inFlight: 0 };
    const seen = processes.map((ms, at) => ({ ...of, id: String(at), rememberFor: ms }));
    const store = { rememberFor, log: { ...log!, processes: async () => seen } };
    const { attention } = await status({ store, timeZone: 'UTC' });
    return /10 minutes later, run `call-webhooks reconcile (.*) --to URL` with the URL of your receiver\.(?: Calls that (.*))? If|(Reconcile can't run .*) If/
      .exec(attention[0]!.fix)!
      .slice(1);
  };
  const only = (hours: string, since: string) =>
    `began before ${since} UTC can't be reconciled safely: the store remembers handled events for ${hours} only, so older ones would run again.`;

  it('begins four hours before, at the full hour, as long as stores remember', async () => {
    expect(await fixOf(1, DAY)).toEqual(['--since 2026-11-02T09:00Z', undefined, undefined]);
    expect(await fixOf(1.5, DAY)).toEqual(['--since 2026-11-02T08:00Z', undefined, undefined]);
    expect(await fixOf(19, DAY)).toEqual(['--since 2026-11-01T15:00Z', undefined, undefined]);
    expect(await fixOf(20, DAY)).toEqual(['--since 2026-11-01T14:30Z', undefined, undefined]);
    expect(await fixOf(24, DAY)).toEqual([
      ...['--since 2026-11-01T14:30Z', only('24 hours', 'Sunday 14:30'), undefined],
    ]);
  });

  it('is what the most forgetful of all stores remembers', async () => {
    for (const [own, processes] of [
      [7 * DAY, [3 * HOUR, 2 * DAY]],
      [3 * HOUR, [2 * DAY, 7 * DAY]],
    ] as const)
      expect(await fixOf(2, own, processes)).toEqual([
        '--since 2026-11-02T11:30Z',
        undefined,
        undefined,
      ]);
    expect(await fixOf(5, 7 * DAY, [3 * HOUR])).toEqual([
      '--since 2026-11-02T11:30Z',
      only('3 hours', '11:30'),
      undefined,
    ]);
  });

  it.each([
    [7 * DAY, '2026-11-01T04:00Z --remember-for 168h'],
    [26 * HOUR, '2026-11-01T12:30Z --remember-for 26h'],
    // In full hours, that is less than the window.
    [26 * HOUR - MINUTE, '2026-11-01T12:31Z --remember-for 1559m'],
    [24 * HOUR + MINUTE, '2026-11-01T14:29Z --remember-for 1441m'],
    [24 * HOUR, '2026-11-01T14:30Z'],
  ])('says how long stores remember, which is longer than the window: %d ms', async (ms, flags) => {
    expect((await fixOf(30, ms))[0]).toBe(`--since ${flags}`);
  });

  it('is nothing for a store that remembers minutes, a quarter of which passes until somebody runs it', async () => {
    expect(await fixOf(1, 20 * MINUTE)).toEqual([
      '--since 2026-11-02T13:45Z',
      only('20 minutes', '13:45'),
      undefined,
    ]);
    expect(await fixOf(1, 13 * MINUTE)).toEqual([
      ...[undefined, undefined],
      "Reconcile can't run what was missed: the store remembers handled events for 13 minutes only, so older ones would run again.",
    ]);
  });
});

describe('a silence that has ended', () => {
  const at = (minutes: number) => NOW - minutes * MINUTE;
  const MS = 1 / MINUTE;
  const silence = (
    [since, until]: readonly [number, number],
    { eventName = COMPLETED, tenant = '', rememberFor = DAY } = {},
  ): Written => {
    const prefix = tenant === '' ? '' : `tenant:${tenant}:`;
    const spans = [{ since: at(since), until: at(until) }];
    return {
      failures: [rowAt(60, { key: 'e1' }), rowAt(55, { key: 'e1', attempt: 2 })],
      // Another tenant, so that what is covered for it is read.
      marks: { [ack(COMPLETED)]: at(5), [ack(COMPLETED, 'acme')]: NOW },
      cursors: { [`${prefix}call-webhooks.covered`]: JSON.stringify({ [eventName]: spans }) },
      rememberFor,
    };
  };

  // It lasted from 55 to 5 minutes ago.
  it.each<[what: string, written: Written, told: number]>([
    ['all of it', silence([55, 5]), 0],
    ['more', silence([90, 1]), 0],
    ['all but its first millisecond', silence([55 - MS, 5]), 1],
    ['all but its last millisecond', silence([55, 5 + MS]), 1],
    ['another event', silence([55, 5], { eventName: RECORDING }), 1],
    ['another tenant', silence([55, 5], { tenant: 'acme' }), 1],
    ['what the store still remembers of it', silence([45, 5], { rememberFor: HOUR }), 0],
    ['less than the store still remembers', silence([45 - MS, 5], { rememberFor: HOUR }), 1],
  ])('is told unless runs have covered %s', async (_what, written, told) => {
    const { attention } = await statusOf(written);
    const ended = attention.filter(({ text }) => text.includes('did not arrive from'));
    expect(ended.map(({ kind, since, tenant }) => [kind, since, tenant])).toEqual(
      Array(told).fill(['missed', at(55), undefined]),
    );
  });

  it('is one thing to do with those before it, the three newest of an event, with all their events', async () => {
    const failed = [300, 240, 180, 175, 120];
    const { attention } = await statusOf({
      failures: failed.map((minutes) =>
        rowAt(minutes, {
          key: `e${String(minutes)}`,
          error: minutes < 150 ? 'Error: B' : 'Error: A',
        }),
      ),
      marks: { [ack(COMPLETED)]: at(5) },
      states: Object.fromEntries(failed.map((minutes) => [`e${String(minutes)}`, 'failed'])),
    });
    expect(attention.map(({ kind, since, count }) => [kind, since, count])).toEqual([
      ['missed', at(240), 4],
    ]);
    expect(attention[0]?.text).toContain(
      '`call:completed` did not arrive from 10:00 UTC to 13:55 UTC, after 4 events had failed and were not sent again. The most frequent error is `Error: A` (3 of 4 failures).',
    );
  });

  it('has the events that failed before it, and none of an earlier pause that ended a day ago', async () => {
    const failed = [25.5 * 60, 120, 115].map((minutes, index) =>
      rowAt(minutes, { key: `e${String(index)}` }),
    );
    const { attention } = await statusOf({
      failures: failed,
      counts: { arrivals: periodsAgo({ [24.5 * 6]: { [counterName(COMPLETED, '')]: 1 } }) },
      marks: { [ack(COMPLETED)]: at(5) },
      states: { e0: 'failed', e1: 'failed', e2: 'failed' },
      rememberFor: 3 * DAY,
    });
    const ended = attention.filter(({ text }) => text.includes('did not arrive from'));
    expect(ended.map(({ since, count }) => [since, count])).toEqual([[at(115), 2]]);
    expect(ended[0]?.text).toContain('after 2 events had failed and were not sent again.');
  });

  it.each([
    ['and of which all rows are read', 2_000, 1, 1],
    ['and of which too many rows came for all to be read', 10, 201, 0],
  ])('%s is told, or is not known', async (_what, rows, batches, told) => {
    const { log } = await storeWith({
      failures: [rowAt(60, { key: 'e1' }), rowAt(55, { key: 'e1', attempt: 2 })],
      marks: { [ack(COMPLETED)]: at(5) },
    });
    const process = { id: 'p', host: 'h', pid: 1, startedAt: at(999), at: NOW, inFlight: 0 };
    for (let batch = 0; batch < batches; batch++)
      await log!.append({
        ...{ id: `of others ${String(batch)}`, process, failures: [], counts: {}, marks: {} },
        // Something of all that time, and nothing of the event.
        rows: Array.from({ length: rows }, (_, index) =>
          rowAt(54 - (10 * (batch * rows + index)) / (batches * rows), {
            ...{ outcome: 'handled', eventName: 'call:started' },
          }),
        ),
      });
    const peek = async (keys: readonly string[]) => keys.map(() => 'failed' as const);
    const { attention } = await status({ store: { log, peek, rememberFor: DAY } });
    expect(attention.filter(({ text }) => text.includes('did not arrive from'))).toHaveLength(told);
  });

  it('is no item if the event is not expected', async () => {
    const from = (NOW - 12 * HOUR) / (10 * MINUTE);
    const one = (minutes: number, ...names: string[]) =>
      [
        from + minutes / 10,
        Object.fromEntries(names.map((name) => [counterName(name, ''), 1])),
      ] as const;
    const arrivals = Object.fromEntries([
      ...Array.from({ length: 12 }, (_, index) => one(-110 + index * 10, COMPLETED, RECORDING)),
      ...[80, 90, 100, 110].map((minutes) => one(minutes, COMPLETED)),
      one(250, COMPLETED, RECORDING),
    ]);
    const marks = { [ack(COMPLETED)]: NOW - MINUTE, [ack(RECORDING)]: NOW - MINUTE };
    const told = async (expected: readonly string[]) =>
      (await statusOf({ counts: { arrivals }, marks, asked: { expect: expected } })).attention;
    expect(await told([COMPLETED])).toEqual([]);
    expect(await told([RECORDING])).toMatchObject([{ kind: 'missed', eventName: RECORDING }]);
  });
});
