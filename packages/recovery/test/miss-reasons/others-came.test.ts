import { describe, expect, it } from '@jest/globals';
import { counterName } from '@call-webhooks/core/stores';
import { COMPLETED, MINUTE, RECORDING, STARTED } from '../status/service-model.ts';
import { ack, minutesAgo, periodsAgo, rowAt } from '../status/written-log.ts';
import {
  ago,
  outcome,
  handledAt,
  handled,
  explained,
  reason,
  RAN,
  PAUSES,
  UNKNOWN,
} from './explained.ts';

describe('an event that did not come while others did', () => {
  const others = { minutes: minutesAgo(handledAt(90, 52, 50, 48, 10)) };
  const single = (tenant = '') =>
    `Other \`call:completed\`${tenant} events arrived around the same time, so their rule was not paused. Individual deliveries were lost in transit. Check the proxy and the conditions of the rule.`;

  it.each([
    [54, 44, 'single'],
    [54, 44 - 1 / MINUTE, 'event-silence'],
  ])('is one that was lost if others came %d and %d minutes ago', async (before, after, kind) => {
    const rows = [handled(before), handled(after)];
    const [found] = await explained({ counts: others, rows }, [[50, COMPLETED]]);
    expect(found?.kind).toBe(kind);
    if (kind === 'single')
      expect(found).toEqual(
        reason({
          ...{ kind, eventName: COMPLETED, from: ago(50), until: ago(49) },
          text: single(),
        }),
      );
  });

  it.each([
    [
      2,
      'Its rule may have been paused, changed or removed, or these deliveries were lost in transit. Check the rule in the service, under Rules.',
    ],
    [3, 'Its rule was probably paused, changed or removed. Check it in the service, under Rules.'],
  ])('stopped, with %d events that were missed', async (missed, text) => {
    const rows = [handled(90), handled(10)];
    const all = Array.from({ length: missed }, (_, index) => [50 + index, COMPLETED] as const);
    expect(await explained({ counts: others, rows }, all)).toEqual([
      reason({
        ...{ kind: 'event-silence', eventName: COMPLETED, missed, from: ago(90), until: ago(10) },
        text: `Other events arrived, but no \`call:completed\` from 12:30 to 13:50. ${text}`,
      }),
    ]);
  });

  it('has the failures since it was acknowledged last', async () => {
    const counts = {
      minutes: minutesAgo({
        ...handledAt(52, 50, 48, 10),
        120: { [outcome('handler-failed', COMPLETED)]: 7 },
        100: { [outcome('handler-failed', COMPLETED)]: 2, [outcome('handler-failed')]: 9 },
        90: { [outcome('handler-failed', COMPLETED)]: 1 },
      }),
    };
    const failures = [rowAt(100, { key: 'k' }), rowAt(90, { key: 'k' })];
    const rows = [
      handled(110),
      handled(109, { tenant: 'acme' }),
      handled(108, { source: 'redrive' }),
    ];
    const [found] = await explained({ counts, failures, rows }, [[50, COMPLETED]]);
    expect(found).toEqual(
      reason({
        ...{ kind: 'event-silence', eventName: COMPLETED, from: ago(90), failedBefore: 3 },
        text: `Other events arrived, but no \`call:completed\` from 12:30 to now. Its rule may have been paused, changed or removed, or these deliveries were lost in transit. Before that, 3 deliveries failed and were not acknowledged later. ${PAUSES} Check the rule in the service, under Rules.`,
      }),
    );
  });

  it('is told of its tenant, whatever comes of another one', async () => {
    const rows = [
      handled(90, { tenant: 'acme' }),
      handled(51, { tenant: 'globex' }),
      handled(49, { tenant: 'globex' }),
      handled(10, { tenant: 'acme' }),
    ];
    const world = { counts: others, rows };
    expect(await explained({ ...world, tenant: 'acme' }, [[50, COMPLETED]])).toEqual([
      reason({
        ...{ kind: 'event-silence', eventName: COMPLETED, from: ago(90), until: ago(10) },
        text: 'Other events arrived, but no `call:completed` of acme from 12:30 to 13:50. Its rule may have been paused, changed or removed, or these deliveries were lost in transit. Check the rule in the service, under Rules.',
      }),
    ]);
    expect(await explained({ ...world, tenant: 'globex' }, [[50, COMPLETED]])).toEqual([
      reason({
        ...{ kind: 'single', eventName: COMPLETED, from: ago(50), until: ago(49) },
        text: single(' of globex'),
      }),
    ]);
  });

  it('is one stretch for each of its names', async () => {
    const rows = [handled(90), handled(80, { eventName: RECORDING }), handled(10)];
    const missed = [
      [50, COMPLETED],
      [50, RECORDING],
      [49, COMPLETED],
    ] as const;
    const found = await explained({ counts: others, rows }, missed);
    expect(
      found.map(({ kind, eventName, missed: count, from, until }) => [
        kind,
        eventName,
        count,
        from,
        until,
      ]),
    ).toEqual([
      ['event-silence', COMPLETED, 2, ago(90), ago(10)],
      ['event-silence', RECORDING, 1, ago(80), null],
    ]);
  });

  it('is known to ten minutes where the log has counters alone, and marks exactly', async () => {
    const counts = {
      ...others,
      arrivals: periodsAgo({ 12: { [counterName(COMPLETED, '')]: 3 } }),
    };
    const marks = { [ack(COMPLETED)]: ago(10) };
    expect(await explained({ counts, marks }, [[50, COMPLETED]])).toEqual([
      reason({
        ...{ kind: 'event-silence', eventName: COMPLETED, isAbout: true },
        ...{ from: ago(110), until: ago(10) },
        text: 'Other events arrived, but no `call:completed` from about 12:10 to about 13:50. Its rule may have been paused, changed or removed, or these deliveries were lost in transit. Check the rule in the service, under Rules.',
      }),
    ]);
  });

  it.each([
    ['acknowledged', counterName('ack', '', COMPLETED, 's'), 90],
    ['not acknowledged', counterName('failed', '', COMPLETED, 's'), 90],
    ['rejected', counterName('rejected', '', COMPLETED, 's'), undefined],
    ['of another event', counterName('ack', '', STARTED, 's'), undefined],
    ['of a tenant', counterName('ack', 'acme', COMPLETED, 's'), undefined],
  ])('came last as a mark of a delivery that was %s says', async (_what, mark, minutes) => {
    const [found] = await explained({ counts: others, marks: { [mark]: ago(90) } }, [
      [50, COMPLETED],
    ]);
    expect([found?.kind, found?.from]).toEqual([
      ...['event-silence', minutes === undefined ? null : ago(minutes)],
    ]);
  });

  it('never came before or after, as far as the log knows', async () => {
    expect(await explained({ counts: others }, [[50, COMPLETED]])).toEqual([
      reason({
        ...{ kind: 'event-silence', eventName: COMPLETED },
        text: 'Other events arrived, but no `call:completed` from the beginning of the log to now. Its rule may have been paused, changed or removed, or these deliveries were lost in transit. Check the rule in the service, under Rules.',
      }),
    ]);
  });

  it.each([
    ['the event', '*', ''],
    ['the tenant', COMPLETED, '*'],
    ['both', '*', '*'],
  ])('is unknown if %s may be counted with others', async (_what, eventName, tenant) => {
    const arrivals = periodsAgo({ 3: { [counterName(eventName, tenant)]: 1 } });
    expect(await explained({ counts: { ...others, arrivals } }, [[50, COMPLETED]])).toEqual([
      { ...UNKNOWN, until: ago(49) },
    ]);
  });
});

describe('with little traffic', () => {
  it('a silence of one event is told once, not for each pause between the others', async () => {
    const counts = { minutes: minutesAgo(handledAt(120, 80, 50, 20)) };
    const rows = [
      handled(120),
      ...[80, 50].map((minutes) => handled(minutes, { eventName: STARTED })),
      handled(20),
    ];
    const missed = [
      [100, COMPLETED],
      [70, COMPLETED],
      [40, COMPLETED],
    ] as const;
    const found = await explained({ counts, rows }, missed);
    expect(found).toHaveLength(1);
    expect(found).toMatchObject([
      { kind: 'event-silence', missed: 3, from: ago(120), until: ago(20) },
    ]);
  });

  it('the last event before everything stopped is no silence of its own', async () => {
    const counts = { minutes: minutesAgo(handledAt(60, 10)) };
    const rows = [handled(59.8), handled(10)];
    expect(await explained({ counts, rows }, [[59.5, COMPLETED]])).toEqual([
      reason({
        ...{ kind: 'silence', from: ago(60), until: ago(10), wasRunning: true },
        text: `No delivery reached any process from 13:00 to 13:50. ${RAN}`,
      }),
    ]);
  });
});
