import { describe, expect, it } from '@jest/globals';
import { counterName } from '@call-webhooks/core/stores';
import { COMPLETED, MINUTE, STARTED } from '../status/service-model.ts';
import { ack, minutesAgo, periodsAgo, rowAt } from '../status/written-log.ts';
import { ago, explained, handled, handledAt, outcome } from './explained.ts';

// The log keeps single deliveries for a shorter time than counters, and of successes not all.

const others = { minutes: minutesAgo(handledAt(90, 52, 50, 48, 10)) };
const arrivedIn = (...periods: number[]) =>
  periodsAgo(
    Object.fromEntries(periods.map((period) => [period, { [counterName(COMPLETED, '')]: 1 }])),
  );

describe('an event that did not come while others did', () => {
  it.each([
    ['ends before the first single delivery that the log has', 115, 115],
    ['ends with the ten minutes, if the log has no single delivery of them', 105, 110],
    ['is no news, if the log has single deliveries of all of them', 125, undefined],
  ])('came last in ten minutes, the time of which %s', async (_what, rows, from) => {
    const [found] = await explained(
      {
        counts: { ...others, arrivals: arrivedIn(12) },
        rows: [handled(rows, { eventName: STARTED })],
      },
      [[50, COMPLETED]],
    );
    expect([found?.kind, found?.from]).toEqual([
      ...['event-silence', from === undefined ? null : ago(from)],
    ]);
  });

  it('is known about if only the time at which it came again is', async () => {
    const [found] = await explained(
      {
        counts: { ...others, arrivals: arrivedIn(2) },
        marks: { [ack(COMPLETED)]: ago(90) },
      },
      [[50, COMPLETED]],
    );
    expect(found).toMatchObject({ isAbout: true, from: ago(90), until: ago(20) });
    expect(found?.text).toContain('no `call:completed` from about 12:30 to about 13:40.');
  });

  it.each([
    ['since it was acknowledged, however long before it came last', 140, 3],
    ['of half an hour, if it was never acknowledged', undefined, 2],
  ])('has the failures %s, and none of later', async (_what, acknowledged, failedBefore) => {
    const failed = (count: number) => ({ [outcome('handler-failed', COMPLETED)]: count });
    const [found] = await explained(
      {
        counts: {
          minutes: minutesAgo({
            ...handledAt(52, 50, 48, 10),
            150: failed(16),
            130: failed(1),
            90: failed(2),
            // Of these, the log has no rows, and they may be of another tenant.
            70: failed(8),
          }),
        },
        failures: [rowAt(130, { key: 'k' }), rowAt(90, { key: 'k' })],
        rows: acknowledged === undefined ? [] : [handled(acknowledged, { key: 'other' })],
      },
      [[50, COMPLETED]],
    );
    expect(found).toMatchObject({ kind: 'event-silence', from: ago(90), failedBefore });
  });
});

describe('a time in which nothing came', () => {
  it('is none of one event, if others came only after it', async () => {
    const found = await explained(
      {
        counts: { minutes: minutesAgo(handledAt(60, 20, 10)) },
        rows: [handled(60), handled(20), handled(10, { eventName: STARTED })],
      },
      [[50, COMPLETED]],
    );
    expect(found).toMatchObject([{ kind: 'silence', from: ago(60), until: ago(20) }]);
  });

  it('ends with a delivery that a process whose clock is ahead has counted in the next minute', async () => {
    const counts = { minutes: minutesAgo({ ...handledAt(60), [-1]: { [outcome('handled')]: 1 } }) };
    expect(await explained({ counts }, [[20, COMPLETED]])).toMatchObject([
      { kind: 'silence', from: ago(60), until: ago(-1) },
    ]);
  });

  it.each([
    ['all of them, if none was acknowledged', [], 25],
    ['none, if all were acknowledged', Array.from({ length: 25 }, (_, at) => at), 0],
    ['those that were not acknowledged', Array.from({ length: 18 }, (_, at) => at), 7],
  ])('has the failures before it: %s', async (_what, acknowledged, failedBefore) => {
    const [found] = await explained(
      {
        counts: {
          minutes: minutesAgo({ ...handledAt(60, 20), 70: { [outcome('handler-failed')]: 25 } }),
        },
        failures: Array.from({ length: 25 }, (_, at) =>
          rowAt(70 - at / 60, { key: `k${String(at)}`, eventName: STARTED }),
        ).map((row) => ({ ...row, at: Math.floor(row.at / MINUTE) * MINUTE })),
        rows: acknowledged.map((at) => handled(65, { key: `k${String(at)}`, eventName: STARTED })),
      },
      [[50, COMPLETED]],
    );
    expect(found).toMatchObject({ kind: 'silence', failedBefore });
  });

  it('has a failure of an event that was acknowledged before, and failed again', async () => {
    const [found] = await explained(
      {
        counts: {
          minutes: minutesAgo({ ...handledAt(75, 60, 20), 70: { [outcome('handler-failed')]: 1 } }),
        },
        failures: [rowAt(70, { key: 'k', eventName: STARTED })],
        rows: [handled(75, { key: 'k', eventName: STARTED })],
      },
      [[50, COMPLETED]],
    );
    expect(found).toMatchObject({ kind: 'silence', failedBefore: 1 });
  });
});

it('events of which nothing is known are told apart from those that arrived and were forgotten', async () => {
  const found = await explained(
    {
      counts: { minutes: minutesAgo(handledAt(20)) },
      rows: [handled(49, { key: 'forgotten' })],
      processes: [],
    },
    [
      [50, COMPLETED, 'forgotten'],
      [50, COMPLETED, 'unknown'],
      [49, COMPLETED, 'unknown-2'],
    ],
  );
  expect(found.map(({ kind, missed, outcomes }) => [kind, missed, outcomes])).toEqual([
    ['unknown', 1, ['handled']],
    ['unknown', 2, []],
  ]);
});
