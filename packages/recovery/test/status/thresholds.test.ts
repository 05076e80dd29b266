import { describe, expect, it } from '@jest/globals';
import { counterName, durationBucket } from '@call-webhooks/core/stores';
import { COMPLETED, DAY, HOUR, MINUTE, RECORDING, STARTED } from './service-model.ts';
import { ack, minutesAgo, NOW, periodsAgo, rowAt, statusOf, type Written } from './written-log.ts';

// One below each threshold, at it, and one above: what is told, as its kind and how many.

const ms = (minutes: number, more = 0) => minutes * MINUTE + more;
/** Minutes and milliseconds ago, in minutes. */
const past = (time: number) => time / MINUTE;
const failed = counterName('failed', '', COMPLETED, 's');
const rejected = (tenant = '') => counterName('rejected', 'signature-mismatch', tenant);
const outcome = (source: string, code: string) => counterName('outcome', source, code, COMPLETED);
const arrivals = (event: string, count: number) => ({ [counterName(event, '')]: count });
const took = (milliseconds: number) =>
  counterName('deliveryMs', COMPLETED, String(durationBucket(milliseconds)));
const report = (at: number) =>
  JSON.stringify([
    {
      ...{ name: 'r', at, since: NOW - HOUR, until: NOW - 10 * MINUTE },
      ...{ dryRun: false, missed: { [COMPLETED]: 1 } },
    },
  ]);

const NONE: readonly string[] = [];
type Case = readonly [value: number, told: readonly string[]];

/** Twelve periods of both events, and then calls without the recording, which is waited for an hour. */
const recordings = (periods: number, missing: number, missingIn = 16) =>
  periodsAgo({
    ...Object.fromEntries(
      Array.from({ length: periods }, (_, index) => [
        30 + index,
        { ...arrivals(COMPLETED, 1), ...arrivals(RECORDING, 1) },
      ]),
    ),
    [missingIn]: arrivals(COMPLETED, missing),
  });

/** So many periods of calls that end at once, and then three that do not. */
const ended = (periods: number, missingIn: number): Written => ({
  counts: {
    arrivals: periodsAgo({
      ...Object.fromEntries(
        Array.from({ length: periods }, (_, index) => [
          30 + index,
          { ...arrivals(STARTED, 1), ...arrivals(COMPLETED, 1) },
        ]),
      ),
      [missingIn]: arrivals(STARTED, 3),
    }),
  },
  marks: { [ack(STARTED)]: NOW - MINUTE, [ack(COMPLETED)]: NOW - ms(295) },
});

const THRESHOLDS: [what: string, world: (value: number) => Written, cases: readonly Case[]][] = [
  [
    'a retry is overdue 12 minutes after the last failure, in milliseconds',
    (value) => ({ marks: { [failed]: NOW - value } }),
    [
      [ms(12), NONE],
      [ms(12, 1), ['urgent silent 1']],
    ],
  ],
  [
    'a failure up to 30 seconds older than the last success is the last thing that happened, in milliseconds',
    (value) => ({ marks: { [failed]: NOW - ms(20) - value, [ack(COMPLETED)]: NOW - ms(20) } }),
    [
      [30_000, ['urgent silent 1']],
      [30_001, NONE],
    ],
  ],
  [
    'an event fails from its third attempt on, or from its second one if nothing else was acknowledged',
    (attempt) => ({
      failures: [rowAt(1, { key: 'c1', attempt })],
      marks: { [failed]: NOW - MINUTE, [ack(COMPLETED)]: NOW - ms(2) },
      states: { c1: 'failed' },
    }),
    [
      [2, NONE],
      [3, ['urgent failing 1']],
    ],
  ],
  [
    'an event fails that has failed for 8 minutes, in milliseconds',
    (value) => ({
      failures: [rowAt(past(MINUTE + value), { key: 'c1' }), rowAt(1, { key: 'c1', attempt: 2 })],
      marks: { [failed]: NOW - MINUTE, [ack(COMPLETED)]: NOW - ms(2) },
      states: { c1: 'failed' },
    }),
    [
      [ms(8, -1), NONE],
      [ms(8), ['urgent failing 1']],
    ],
  ],
  [
    'deliveries that cannot be told apart fail from the third one on',
    (count) => ({
      failures: [9, 5, 1].slice(3 - count).map((at) => rowAt(at, { outcome: 'overloaded' })),
    }),
    [
      [2, NONE],
      [3, ['urgent failing 1']],
    ],
  ],
  [
    'deliveries that cannot be told apart fail that have failed for 8 minutes, in milliseconds',
    (value) => ({
      failures: [past(MINUTE + value), 5, 1].map((at) => rowAt(at, { outcome: 'overloaded' })),
    }),
    [
      [ms(8, -1), NONE],
      [ms(8), ['urgent failing 1']],
    ],
  ],
  [
    'deliveries that cannot be told apart belong together for 6.5 minutes, in milliseconds',
    (value) => ({
      failures: [past(ms(5) + value), 5, 1].map((at) => rowAt(at, { outcome: 'overloaded' })),
    }),
    [
      [ms(6.5), ['urgent failing 1']],
      [ms(6.5, 1), NONE],
    ],
  ],
  [
    'failures are over 12 minutes after the last one, in milliseconds',
    (value) => ({
      failures: [past(value + ms(9)), past(value + ms(5)), past(value)].map((at) =>
        rowAt(at, { outcome: 'overloaded' }),
      ),
    }),
    [
      [ms(12), ['urgent failing 1']],
      [ms(12, 1), NONE],
    ],
  ],
  [
    'an event was given up if another one arrived 12 minutes after its failure, in milliseconds',
    (value) => ({
      failures: [rowAt(40, { key: 'lost' })],
      // It arrived in between, so that there was no silence.
      rows: [rowAt(35, { outcome: 'handled', key: 'other' })],
      marks: { [ack(COMPLETED)]: NOW - ms(40) + value },
      states: { lost: 'failed' },
    }),
    [
      [ms(12), NONE],
      [ms(12, 1), ['missed 1']],
    ],
  ],
  [
    'an event was given up as long as the store knows it, in milliseconds',
    (value) => ({
      failures: [rowAt(past(value), { key: 'lost' })],
      rows: [rowAt(past(value - ms(5)), { outcome: 'handled', key: 'other' })],
      marks: { [ack(COMPLETED)]: NOW - MINUTE },
      states: { lost: 'failed' },
      rememberFor: 2 * HOUR,
    }),
    [
      [2 * HOUR - 1, ['missed 1']],
      [2 * HOUR, NONE],
    ],
  ],
  [
    'dead letters of the last 26 hours are told',
    (value) => ({
      counts: { minutes: minutesAgo({ [value]: { [outcome('webhook', 'dead-lettered')]: 1 } }) },
    }),
    [
      [26 * 60, ['failing 1']],
      [26 * 60 + 1, NONE],
    ],
  ],
  [
    'rejections need attention if the last one came 4 minutes after the first',
    (value) => ({
      counts: { minutes: minutesAgo({ 5: { [rejected()]: 1 }, [5 - value]: { [rejected()]: 1 } }) },
      marks: { [ack(COMPLETED)]: NOW - ms(30) },
    }),
    [
      [3, NONE],
      [4, ['urgent rejected 2']],
    ],
  ],
  [
    'rejections belong together for 7 minutes',
    (value) => ({
      counts: { minutes: minutesAgo({ [value]: { [rejected()]: 1 }, 0: { [rejected()]: 1 } }) },
      marks: { [ack(COMPLETED)]: NOW - ms(30) },
    }),
    [
      [7, ['urgent rejected 2']],
      [8, NONE],
    ],
  ],
  [
    'rejections that concern no event are over 8 minutes after the last one',
    (value) => ({
      counts: {
        minutes: minutesAgo({ [value]: { [rejected()]: 1 }, [value + 5]: { [rejected()]: 1 } }),
      },
      marks: { [ack(COMPLETED)]: NOW },
    }),
    [
      [8, ['rejected 2']],
      [9, NONE],
    ],
  ],
  [
    'nothing of a tenant arrives for 2 hours, in milliseconds',
    (value) => ({
      counts: { arrivals: periodsAgo({ [7 * 144 + 6]: arrivals(COMPLETED, 30) }) },
      marks: { [ack(COMPLETED)]: NOW - value },
    }),
    [
      [ms(120, -1), NONE],
      [ms(120), ['silent 30']],
    ],
  ],
  [
    'hours are usual that had 20 calls in the week before',
    (value) => ({
      counts: { arrivals: periodsAgo({ [7 * 144 + 6]: arrivals(COMPLETED, value) }) },
      marks: { [ack(COMPLETED)]: NOW - 3 * HOUR },
    }),
    [
      [19, NONE],
      [20, ['silent 20']],
    ],
  ],
  [
    'hours of the week before begin after the period in which the last delivery arrived',
    (value) => ({
      counts: { arrivals: periodsAgo({ [7 * 144 + value]: arrivals(COMPLETED, 30) }) },
      marks: { [ack(COMPLETED)]: NOW - 3 * HOUR },
    }),
    [
      [18, NONE],
      [17, ['silent 30']],
      [1, ['silent 30']],
      [0, NONE],
    ],
  ],
  [
    'calls lack an event from the third one on',
    (value) => ({
      counts: { arrivals: recordings(30, value) },
      marks: { [ack(COMPLETED)]: NOW - MINUTE, [ack(RECORDING)]: NOW - ms(295) },
    }),
    [
      [2, NONE],
      [3, ['urgent silent 3']],
    ],
  ],
  [
    'an event is judged that arrived in 10 periods',
    (value) => ({
      counts: { arrivals: recordings(value, 5) },
      marks: { [ack(COMPLETED)]: NOW - MINUTE, [ack(RECORDING)]: NOW - ms(295) },
    }),
    [
      [9, NONE],
      [10, ['urgent silent 5']],
    ],
  ],
  [
    'a recording is due an hour after the call has ended, of calls from an hour after the last one',
    (value) => ({
      counts: { arrivals: recordings(30, 3, value) },
      marks: { [ack(COMPLETED)]: NOW - MINUTE, [ack(RECORDING)]: NOW - ms(295) },
    }),
    [
      [24, NONE],
      [23, ['urgent silent 3']],
      [7, ['urgent silent 3']],
      [6, NONE],
    ],
  ],
  [
    'a call is waited for 4 hours while the history has less than 50 periods',
    (value) => ended(49, value),
    [
      [25, ['urgent silent 3']],
      [24, NONE],
    ],
  ],
  [
    'a call is waited for half an hour if none took longer in a history of 50 periods',
    (value) => ended(50, value),
    [
      [4, ['urgent silent 3']],
      [3, NONE],
    ],
  ],
  [
    'deliveries are slow from the third slow one on',
    (value) => ({ counts: { times: periodsAgo({ 1: { [took(14_000)]: value } }) } }),
    [
      [2, NONE],
      [3, ['slow 3']],
    ],
  ],
  [
    'deliveries are slow if 5% of them are',
    (value) => ({
      counts: { times: periodsAgo({ 1: { [took(14_000)]: 5, [took(100)]: value } }) },
    }),
    [
      [95, ['slow 5']],
      [96, NONE],
    ],
  ],
  [
    'a delivery is slow that takes half of ackWithin, by its bucket',
    (value) => ({ counts: { times: periodsAgo({ 1: { [took(value)]: 9 } }) } }),
    [
      [9_700, NONE],
      [11_500, NONE], // its bucket begins before
      [11_600, ['slow 9']],
    ],
  ],
  [
    'the last 20 minutes are looked at for slow deliveries, as long as 20 deliveries came in them',
    (value) => ({
      counts: {
        times: periodsAgo({
          0: { [took(100)]: 20 },
          [value]: { [took(14_000)]: 5 },
        }),
      },
    }),
    [
      [2, ['slow 5']],
      [3, NONE],
    ],
  ],
  [
    'fewer than 20 deliveries are looked at however old they are',
    (value) => ({
      counts: { times: periodsAgo({ 0: { [took(100)]: value }, 30: { [took(14_000)]: 15 } }) },
    }),
    [
      [19, ['slow 15']],
      [20, NONE],
    ],
  ],
  [
    'a queue is stuck 15 minutes after a delivery was queued',
    (value) => ({
      counts: { minutes: minutesAgo({ [value]: { [outcome('webhook', 'queued')]: 2 } }) },
      marks: { queue: NOW - HOUR },
    }),
    [
      [14, NONE],
      [15, ['stuck 2']],
    ],
  ],
  [
    'a silence that has ended is told for 24 hours, in milliseconds',
    (value) => ({
      failures: [
        rowAt(past(value + ms(60)), { key: 'e1' }),
        rowAt(past(value + ms(55)), { key: 'e1', attempt: 2 }),
      ],
      marks: { [ack(COMPLETED)]: NOW - value },
      states: { e1: 'failed' },
      // Of the failure itself, the store knows nothing any more.
      rememberFor: DAY + 50 * MINUTE,
    }),
    [
      [DAY, ['missed 1']],
      [DAY + 1, NONE],
    ],
  ],
  [
    'what a reconciler found is told for 26 hours, in milliseconds',
    (value) => ({ cursors: { 'call-webhooks.reconciled': report(NOW - value) } }),
    [
      [26 * HOUR, ['missed 1']],
      [26 * HOUR + 1, NONE],
    ],
  ],
];

describe.each(THRESHOLDS)('%s:', (_what, world, cases) => {
  it.each(cases)('with %d', async (value, told) => {
    const { attention } = await statusOf(world(value));
    expect(
      attention.map(
        ({ kind, urgent, count }) => `${urgent ? 'urgent ' : ''}${kind} ${String(count)}`,
      ),
    ).toEqual(told);
  });
});
