import { describe, expect, it } from '@jest/globals';
import { counterName } from '@call-webhooks/core/stores';
import { COMPLETED, HOUR, MINUTE, RECORDING, STARTED } from './service-model.ts';
import { ack, minutesAgo, NOW, periodsAgo, rowAt, statusOf, type Written } from './written-log.ts';

// A delivery that failed has arrived as well, and each tenant and event has failures of its own.

const ago = (minutes: number) => NOW - minutes * MINUTE;
const failedMark = (eventName = COMPLETED, tenant = '') =>
  counterName('failed', tenant, eventName, 's');
const shown = async (written: Written) =>
  (await statusOf(written)).attention.map(({ kind, tenant, eventName, count, by }) => [
    ...[kind, tenant, eventName, count, by],
  ]);

describe('an event whose last delivery failed', () => {
  it('arrives: rejections from before that delivery say nothing of it', async () => {
    const name = counterName('rejected', 'signature-mismatch', '');
    const { events, undecided } = await statusOf({
      counts: { minutes: minutesAgo({ 3: { [name]: 1 } }) },
      failures: [rowAt(1, { key: 'c1' })],
      marks: { [failedMark()]: ago(1), [ack(COMPLETED)]: ago(20), [ack(STARTED)]: ago(20) },
      states: { c1: 'failed' },
    });
    expect(undecided).toMatchObject([{ count: 1, since: ago(3) }]);
    expect(events.map(({ eventName, state }) => [eventName, state])).toEqual([
      [COMPLETED, 'arrives'],
      [STARTED, 'unknown'],
    ]);
  });

  it('has no time of an acknowledgement unless there was one', async () => {
    const { events } = await statusOf({
      failures: [rowAt(1, { key: 'c1' })],
      marks: { [failedMark()]: ago(1), [failedMark(STARTED)]: ago(1), [ack(STARTED)]: ago(2) },
      states: { c1: 'failed' },
    });
    expect(events).toEqual([
      { eventName: COMPLETED, arrivedAt: ago(1), state: 'arrives' },
      { eventName: STARTED, arrivedAt: ago(1), acknowledgedAt: ago(2), state: 'arrives' },
    ]);
  });

  it('is not silent in usual hours since it was acknowledged, but since it arrived', async () => {
    const silence = (minutes: number) =>
      shown({
        failures: [rowAt(minutes, { key: 'dead' })],
        marks: { [failedMark()]: ago(minutes), [ack(COMPLETED)]: ago(180) },
        states: { dead: 'dead-lettered' },
        counts: {
          arrivals: periodsAgo({ [7 * 144 + 6]: { [counterName(COMPLETED, '')]: 30 } }),
        },
      });
    expect(await silence(119)).toEqual([]);
    expect(await silence(120)).toEqual([['silent', undefined, undefined, 30, 'usual-hours']]);
  });

  it('waits for its retry since it arrived last, although another one was acknowledged meanwhile', async () => {
    const overdue = (more: number) =>
      shown({
        marks: {
          [failedMark()]: ago(12) - more - 20_000,
          [ack(COMPLETED)]: ago(12) - more,
        },
      });
    expect(await overdue(0)).toEqual([]);
    expect(await overdue(1)).toEqual([['silent', undefined, COMPLETED, 1, 'retries']]);
  });

  it.each([
    ['of another tenant', COMPLETED, 'globex'],
    ['of another name', STARTED, 'acme'],
  ])(
    'has stopped arriving, although the store knows that a later one %s is handled',
    async (_what, eventName, tenant) => {
      const world = {
        failures: [
          rowAt(60, { key: 'lost', tenant: 'acme' }),
          rowAt(30, { key: 'done', tenant, eventName }),
        ],
        marks: {
          [failedMark(COMPLETED, 'acme')]: ago(60),
          [failedMark(eventName, tenant)]: ago(30),
        },
      };
      const lost = ['silent', 'acme', COMPLETED, 1, 'retries'];
      expect(await shown({ ...world, states: { lost: 'failed', done: 'handled' } })).toEqual([
        lost,
      ]);
      expect(await shown({ ...world, states: { lost: 'handled', done: 'failed' } })).toEqual([
        ['silent', tenant, eventName, 1, 'retries'],
      ]);
    },
  );
});

describe('an event that failed and was not sent again, while others arrive', () => {
  it.each([
    ['failed', 1],
    ['running', 0],
    ['handled', 0],
    ['dead-lettered', 0],
    [undefined, 0],
  ] as const)('is missed if the store has it as failed: %s', async (state, items) => {
    const found = await shown({
      failures: [rowAt(40, { key: 'lost' })],
      rows: [rowAt(35, { outcome: 'handled', key: 'other' })],
      marks: { [ack(COMPLETED)]: ago(10) },
      states: state ? { lost: state } : {},
    });
    expect(found).toHaveLength(items);
  });
});

describe('an event that fails', () => {
  const world = (attempts: readonly number[], left: readonly (number | undefined)[] = []) =>
    statusOf({
      failures: attempts.map((attempt, index) =>
        rowAt(3 - index, {
          ...{ key: 'c1', attempt },
          ...(left[index] !== undefined && { attemptsLeft: left[index] }),
        }),
      ),
      marks: { [failedMark()]: ago(1), [ack(COMPLETED)]: ago(2) },
      states: { c1: 'failed' },
    });

  it('has the most attempts that any of its deliveries had, in whatever order processes tell them', async () => {
    expect((await world([1, 2])).attention).toEqual([]);
    for (const attempts of [
      [1, 2, 3],
      [3, 2],
      [1, 3, 2],
    ])
      expect((await world(attempts)).attention).toMatchObject([
        { kind: 'failing', text: expect.stringContaining('One event has failed 3 times') },
      ]);
  });

  it.each([
    ['as many as its last delivery says', [3, 2, 1], false],
    ['none once its last delivery says so', [2, 1, 0], true],
    ['as many as before if the store could not tell', [3, 2, undefined], false],
    ['none if no delivery tells', [undefined, undefined, undefined], true],
  ] as const)('has attempts left: %s', async (_what, left, urgent) => {
    expect((await world([1, 2, 3], left)).attention).toMatchObject([{ kind: 'failing', urgent }]);
  });
});

describe('calls that lack an event, judged by another one that comes after they began', () => {
  /** Thirty periods of both, the last of them ten hours ago, and later calls without the event. */
  const lacking = (eventName: string, other: string, missingIn: number) =>
    shown({
      counts: {
        arrivals: periodsAgo({
          ...Object.fromEntries(
            Array.from({ length: 30 }, (_, index) => [
              60 + index,
              { [counterName(eventName, '')]: 1, [counterName(other, '')]: 1 },
            ]),
          ),
          [missingIn]: { [counterName(other, '')]: 3 },
        }),
      },
      marks: { [ack(other)]: ago(1), [ack(eventName)]: NOW - 10 * HOUR + 5 * MINUTE },
    });

  // Of calls that may have begun before the event arrived last, it is not due.
  it.each([
    [RECORDING, COMPLETED, 53],
    [COMPLETED, RECORDING, 53],
    [STARTED, COMPLETED, 35],
    [STARTED, RECORDING, 35],
  ])('%s by %s', async (eventName, other, first) => {
    const found = [['silent', undefined, eventName, 3, 'other-events']];
    expect(await lacking(eventName, other, first + 1)).toEqual([]);
    expect(await lacking(eventName, other, first)).toEqual(found);
    expect(await lacking(eventName, other, 7)).toEqual(found);
    expect(await lacking(eventName, other, 6)).toEqual([]);
  });
});
