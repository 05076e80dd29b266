import { describe, expect, it } from '@jest/globals';
import { counterName, type OutcomeRow } from '@call-webhooks/core/stores';
import { status } from '@call-webhooks/recovery';
import { MINUTE } from './service-model.ts';
import { ack, minutesAgo, NOW, rowAt, statusOf, storeWith } from './written-log.ts';

describe('events that fail', () => {
  const failed = (call: string, minute: number, error: string, attempt = 1): OutcomeRow => ({
    ...{ at: NOW - minute * MINUTE + 7, process: 'p', durationMs: 1, source: 'webhook', attempt },
    ...{ outcome: 'handler-failed', webhookId: `${call}${String(minute)}`, error },
    ...{ eventName: 'call:completed', key: `${call}:call:completed`, callId: call },
  });
  const refused = 'The handler failed: Error: connect ECONNREFUSED 10.0.0.5:5432';

  it('are told with the errors of their own tenant', async () => {
    const of = (tenant: string, row: OutcomeRow) => ({
      ...row,
      tenant,
      key: `${tenant}:${String(row.key)}`,
    });
    const failures = [
      ...[11, 6, 1].map((minute, at) => of('acme', failed('c1', minute, 'Error: mine', at + 1))),
      ...[10, 9, 8, 7, 5, 4].map((minute) =>
        of('globex', failed(`g${String(minute)}`, minute, 'Error: theirs')),
      ),
    ];
    const marks = { [counterName('failed', 'acme', 'call:completed', 's')]: NOW - MINUTE };
    const { attention } = await status({ store: await storeWith({ failures, marks }) });
    const [own] = attention.filter(({ tenant }) => tenant === 'acme');
    expect(own?.text).toContain('mine');
    expect(own).toMatchObject({
      urgent: true,
      fix: expect.stringMatching(/^Fix the cause of the error\. Set/),
    });
    expect(own?.text).not.toContain('theirs');
  });

  it.each([
    [[0, 2], true],
    [[2, 0], true],
    [[1, 2], false],
    [[undefined, 2], true], // nobody knows
  ])('are urgent as soon as one of them has no attempt left: %j', async (left, urgent) => {
    const failures = left.flatMap((attemptsLeft, index) =>
      [11, 6, 1].map((minute, at) => ({
        ...failed(`c${String(index)}`, minute - index / 2, refused, at + 1),
        ...(attemptsLeft !== undefined && { attemptsLeft }),
      })),
    );
    failures.sort((one, other) => one.at - other.at);
    const marks = { [counterName('failed', '', 'call:completed', 's')]: NOW - MINUTE };
    const { attention } = await status({ store: await storeWith({ failures, marks }) });
    expect(attention).toMatchObject([{ kind: 'failing', count: 2, urgent }]);
  });

  // What the service sends twice within a minute has failed for one reason, and not for five minutes.
  it.each([
    [300_000, ['failing']],
    [299_999, []],
  ])(
    'twice within a minute, when the last of others was handled %d ms before: %j',
    async (ago, kinds) => {
      const failures = [failed('c1', 3, refused, 1), failed('c1', 2, refused, 2)];
      const marks = {
        [counterName('failed', '', 'call:completed', 's')]: failures[1]!.at,
        [ack('call:completed')]: failures[1]!.at - ago,
      };
      const { attention } = await status({ store: await storeWith({ failures, marks }) });
      expect(attention.map(({ kind }) => kind)).toEqual(kinds);
    },
  );

  it('have the attempts that they were known to have left, if their last row does not say it', async () => {
    const rows = [11, 6, 1].map((minute, at) => failed('c1', minute, refused, at + 1));
    const [first, second, last] = rows as [OutcomeRow, OutcomeRow, OutcomeRow];
    const failures = [{ ...first, attemptsLeft: 9 }, { ...second, attemptsLeft: 8 }, last];
    const marks = { [counterName('failed', '', 'call:completed', 's')]: NOW - MINUTE };
    const { attention } = await status({ store: await storeWith({ failures, marks }) });
    expect(attention).toMatchObject([{ kind: 'failing', urgent: false }]);
  });

  it('and of which the log has forgotten when they arrived last are no reason to call it unreadable', async () => {
    const written = { failures: [rowAt(40, { key: 'lost' })], states: { lost: 'failed' as const } };
    const { attention, unknown, events } = await statusOf(written);
    expect([attention, unknown, events]).toEqual([[], undefined, []]);
  });

  // One that failed before belongs to those that fail now, unless others were acknowledged in between.
  it.each<[what: string, before: number, acknowledged: number, told: [number, number]]>([
    ['half an hour before, and nothing since', 40, 50, [2, 40]],
    ['half a minute before the last success', 40, 39.5, [2, 40]],
    ['more than half a minute before the last success', 40, 39.5 - 1 / MINUTE, [1, 11]],
    ['12 minutes before, and others were handled', 23, 15, [2, 23]],
    ['more than 12 minutes before, and others were handled', 23 + 1 / MINUTE, 15, [1, 11]],
  ])(
    'are told together with one that failed %s',
    async (_what, before, acknowledged, [count, since]) => {
      const { attention } = await statusOf({
        failures: [
          rowAt(before, { key: 'before', error: 'The handler failed: Error: first' }),
          ...[11, 6, 1].map((minutes, at) =>
            rowAt(minutes, {
              key: 'now',
              attempt: at + 1,
              error: 'The handler failed: Error: next',
            }),
          ),
        ],
        states: { before: 'failed', now: 'failed' },
        marks: {
          [counterName('failed', '', 'call:completed', 's')]: NOW - MINUTE,
          [ack('call:completed')]: NOW - acknowledged * MINUTE,
        },
      });
      const [item, ...others] = attention.filter(({ kind }) => kind === 'failing');
      expect([item?.count, item?.since, others]).toEqual([count, NOW - since * MINUTE, []]);
      expect(item?.text).toContain(
        count === 2
          ? 'The most frequent error is `Error: next` (3 of 4 failures).'
          : 'Each time, the error was `Error: next`.',
      );
    },
  );

  it.each([
    ['handled', []],
    ['dead-lettered', []],
    ['running', []],
    ['failed', ['failing']],
    [undefined, ['failing']],
  ] as const)('are done once the store has the event as %s', async (state, kinds) => {
    const { attention } = await statusOf({
      failures: [11, 6, 1].map((minutes, at) => rowAt(minutes, { key: 'c1', attempt: at + 1 })),
      states: state === undefined ? {} : { c1: state },
      marks: { [counterName('failed', '', 'call:completed', 's')]: NOW - MINUTE },
    });
    expect(attention.map(({ kind }) => kind)).toEqual(kinds);
  });

  it('are told once if some of them are dead letters already', async () => {
    const name = (event: string) => counterName('outcome', 'webhook', 'dead-lettered', event);
    const { attention } = await statusOf({
      failures: [
        rowAt(30, { key: 'dead', outcome: 'dead-lettered' }),
        ...[11, 6, 1].map((minutes, at) => rowAt(minutes, { key: 'c1', attempt: at + 1 })),
      ],
      states: { c1: 'failed', dead: 'dead-lettered' },
      counts: { minutes: minutesAgo({ 30: { [name('call:completed')]: 1, [name('lead')]: 1 } }) },
      marks: { [counterName('failed', '', 'call:completed', 's')]: NOW - MINUTE },
    });
    expect(attention.map(({ eventName, count, urgent }) => [eventName, count, urgent])).toEqual([
      ['call:completed', 1, true],
      ['lead', 1, false],
    ]);
  });

  it.each([
    ['of the same event, later', 'call:completed', 'handled', 59, 'reconcile', 1],
    [
      'of the same event, in the minute of the failure',
      'call:completed',
      'queued',
      60,
      'reconcile',
      1,
    ],
    ['of the same event, before', 'call:completed', 'handled', 61, 'reconcile', 0],
    ['of another event', 'call:started', 'handled', 59, 'reconcile', 0],
    ['which found it handled', 'call:completed', 'duplicate', 59, 'reconcile', 0],
    ['but a redrive', 'call:completed', 'handled', 59, 'redrive', 0],
  ])(
    'and were handled by a reconcile %s: their rule is still paused, or they are done',
    async (_what, eventName, outcome, minutes, source, items) => {
      const { attention } = await statusOf({
        failures: [rowAt(60, { key: 'c1' })],
        states: { c1: 'handled' },
        counts: {
          minutes: minutesAgo({
            [minutes]: { [counterName('outcome', source, outcome, eventName)]: 1 },
          }),
        },
        marks: { [counterName('failed', '', 'call:completed', 's')]: NOW - 60 * MINUTE },
      });
      expect(attention.map(({ kind }) => kind)).toEqual(Array(items).fill('silent'));
    },
  );

  it.each([
    ['handled', 0],
    ['dead-lettered', 0],
    ['running', 1],
    ['failed', 1],
    [undefined, 1],
  ] as const)(
    'and whose retry is overdue are done if the store has them as %s',
    async (state, items) => {
      const overdue = (rememberFor: number) =>
        statusOf({
          failures: [rowAt(60, { key: 'c1' })],
          states: state === undefined ? {} : { c1: state },
          marks: { [counterName('failed', '', 'call:completed', 's')]: NOW - 60 * MINUTE },
          rememberFor,
        });
      const kinds = async (rememberFor: number) =>
        (await overdue(rememberFor)).attention.map(({ kind, by }) => [kind, by]);
      expect(await kinds(60 * MINUTE + 1)).toEqual(Array(items).fill(['silent', 'retries']));
      // What the store says of events that it may have forgotten says nothing.
      expect(await kinds(60 * MINUTE)).toEqual([['silent', 'retries']]);
    },
  );

  it.each([
    ['second outcomes of deliveries', { late: true as const }],
    ['redrives', { source: 'redrive' as const }],
    ['replays', { outcome: 'replayed' as const }],
  ])('are no %s, which the service does not send again', async (_what, more) => {
    const { attention } = await statusOf({
      failures: [11, 6, 1].map((minutes, at) =>
        rowAt(minutes, { key: 'c1', attempt: at + 1, ...more }),
      ),
      states: { c1: 'failed' },
      marks: { [ack('call:completed')]: NOW },
    });
    expect(attention).toEqual([]);
  });

  it('of a name beyond the first 100, which has no mark of its own, are no reason to know nothing', async () => {
    const { attention, unknown } = await statusOf({
      failures: [60, 55].map((minutes, at) =>
        rowAt(minutes, { key: 'c1', attempt: at + 1, eventName: 'own:101' }),
      ),
      states: { c1: 'failed' },
      marks: { [counterName('failed', '', '*', 's')]: NOW - 30 * MINUTE },
    });
    expect(unknown).toBeUndefined();
    expect(attention.map(({ kind, eventName }) => [kind, eventName])).toEqual([['silent', '*']]);
  });
});
