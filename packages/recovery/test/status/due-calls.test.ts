import { describe, expect, it } from '@jest/globals';
import { counterName } from '@call-webhooks/core/stores';
import { COMPLETED, MINUTE, STARTED } from './service-model.ts';
import { ack, NOW, periodsAgo, statusOf } from './written-log.ts';

/** How many calls started and were completed in each period of ten minutes, the oldest first. */
type Periods = readonly (readonly [started: number, completed: number])[];

/**
 * What is told of `call:completed` if everything came like this so many times, the last of it so many periods ago,
 * and since then so many calls have started, so many periods ago.
 */
async function told(
  usual: Periods,
  times: number,
  { last, calls, at, later = 0 }: { last: number; calls: number; at: number; later?: number },
) {
  const all = Array.from({ length: times }, () => usual).flat();
  const counted = all.map(([started, completed], index): [number, Record<string, number>] => [
    last + all.length - 1 - index,
    {
      ...(started > 0 && { [counterName(STARTED, '')]: started }),
      ...(completed > 0 && { [counterName(COMPLETED, '')]: completed }),
    },
  ]);
  const { attention } = await statusOf({
    counts: {
      arrivals: periodsAgo({
        ...Object.fromEntries(counted),
        [at]: { [counterName(STARTED, '')]: calls },
      }),
    },
    marks: {
      [ack(STARTED)]: NOW - (10 * at - 1) * MINUTE,
      [ack(COMPLETED)]: NOW - (10 * last - 1) * MINUTE,
    },
    later,
  });
  return attention.map(({ eventName, by, urgent, count, text }) => [
    ...[eventName, by, urgent, count, /it arrives for (\d+)% of the calls/.exec(text)?.[1]],
  ]);
}

const NOTHING: Periods = [[0, 0]];
/** A call that is completed an hour after the ten minutes in which it started had begun. */
const AN_HOUR: Periods = [[1, 0], ...NOTHING, ...NOTHING, ...NOTHING, ...NOTHING, [0, 1]];

describe('a call that lacks its end', () => {
  // Its ten minutes have to pass, and then twice the longest wait that was seen.
  it.each([
    ['twice as long as calls took so far', AN_HOUR, 51, 40, 10 + 120],
    ['4 hours, while an event has come in less than 50 periods', AN_HOUR, 40, 60, 10 + 240],
    ['half an hour, although all calls were short', [[1, 1]] as Periods, 60, 10, 10 + 30],
    [
      '4 hours, although some calls took longer',
      [[1, 0], ...Array.from({ length: 16 }, () => NOTHING).flat(), [0, 1]] as Periods,
      ...([51, 60, 10 + 240] as const),
    ],
  ])('is waited for %s', async (_what, usual, times, last, minutes) => {
    const silence = { last, calls: 3, at: minutes / 10 };
    expect(await told(usual, times, { ...silence, later: -1 })).toEqual([]);
    expect(await told(usual, times, silence)).toEqual([
      [COMPLETED, 'other-events', true, 3, '100'],
    ]);
  });

  it.each([
    ['of calls that usually have it', [[1, 1]] as Periods, 3, true, '100'],
    [
      'of calls a quarter of which has it',
      [
        [3, 0],
        [1, 1],
      ] as Periods,
      ...([28, false, '25'] as const),
    ],
    ['of calls a quarter of which has it at once', [[4, 1]] as Periods, 28, false, '25'],
    ['of calls two thirds of which have it', [[3, 2]] as Periods, 7, false, '67'],
    ['of calls that have it twice', [[1, 2]] as Periods, 3, true, '100'],
    ['of calls three quarters of which have it', [[4, 3]] as Periods, 6, false, '75'],
    ['of calls almost nine tenths of which have it', [[100, 89]] as Periods, 4, false, '89'],
    ['of calls nine tenths of which have it', [[10, 9]] as Periods, 4, true, '90'],
  ])('is one of enough, %s', async (_what, usual, enough, urgent, percent) => {
    const silence = { last: 12, at: 9 };
    expect(await told(usual, 60, { ...silence, calls: enough - 1 })).toEqual([]);
    expect(await told(usual, 60, { ...silence, calls: enough })).toEqual([
      [COMPLETED, 'other-events', urgent, enough, percent],
    ]);
  });

  // The end of these came after an hour and a half, which is longer than they are waited for at first.
  it.each([
    ['twice as many as have lacked it before', 2, 5],
    ['twice as many as would have been told, although more have lacked it before', 5, 7],
  ])('is one of more than %s', async (_what, lacked, enough) => {
    const late: Periods = [
      [lacked, 0],
      ...Array.from({ length: 8 }, () => NOTHING).flat(),
      [0, lacked],
    ];
    const usual: Periods = [...Array.from({ length: 60 }, () => [5, 5] as const), ...late];
    const silence = { last: 30, at: 28 };
    expect(await told(usual, 1, { ...silence, calls: enough - 1 })).toEqual([]);
    expect(await told(usual, 1, { ...silence, calls: enough })).toEqual([
      [COMPLETED, 'other-events', true, enough, '100'],
    ]);
  });
});
