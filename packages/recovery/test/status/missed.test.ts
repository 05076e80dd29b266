import { describe, expect, it } from '@jest/globals';
import { status } from '@call-webhooks/recovery';
import { counterName, type OutcomeRow } from '@call-webhooks/core/stores';
import { COMPLETED, DAY, HOUR, MINUTE, RECORDING } from './service-model.ts';
import { ack, NOW, storeWith } from './written-log.ts';

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
