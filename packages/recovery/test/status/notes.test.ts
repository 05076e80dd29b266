import { describe, expect, it } from '@jest/globals';
import { counterName } from '@call-webhooks/core/stores';
import { COMPLETED, DAY, MINUTE, RECORDING, STARTED } from './service-model.ts';
import { ack, minutesAgo, NOW, periodsAgo, statusOf, type Written } from './written-log.ts';

const WEEK = 7 * 144;
const ago = (minutes: number) => NOW - minutes * MINUTE;

describe('a quiet time that has ended', () => {
  /** Something arrived these periods ago, and in the week before many calls in the time between. */
  const world = (
    { from = 40, until = 20, usual = { [WEEK + 30]: 25 }, tenant = '' } = {},
    more: Partial<Written> = {},
  ): Written => ({
    counts: {
      arrivals: periodsAgo({
        ...Object.fromEntries(
          Object.entries(usual).map(([at, count]) => [
            at,
            { [counterName(COMPLETED, tenant)]: count, [counterName(STARTED, tenant)]: count - 1 },
          ]),
        ),
        [from]: { [counterName(COMPLETED, tenant)]: 1 },
        [until]: { [counterName(COMPLETED, tenant)]: 1 },
      }),
    },
    ...more,
  });
  const text = (of: string, flag: string) =>
    `Nothing${of} arrived from about 07:30 UTC to 10:40 UTC. In the same hours of last week, 25 calls arrived. On a holiday this is normal. If calls were made in that time, run \`call-webhooks reconcile --since 2026-11-02T03:00Z${flag} --to URL\` with the URL of your receiver.`;
  const notesOf = async (written: Written) => (await statusOf(written)).notes;

  it('is a note with both times, the usual calls, and what to run', async () => {
    expect(await notesOf(world())).toEqual([{ text: text('', '') }]);
    expect(await notesOf(world({ tenant: 'acme' }))).toEqual([
      { tenant: 'acme', text: text(' of acme', ' --tenant acme') },
    ]);
    expect(await notesOf(world({ tenant: '*' }))).toEqual([]);
  });

  it.each<[what: string, world: Parameters<typeof world>[0], notes: number]>([
    ['of two hours', { until: 27 }, 1],
    ['of less than two hours', { until: 28 }, 0],
    ['of hours that usually have 20 calls', { usual: { [WEEK + 30]: 20 } }, 1],
    ['of hours that usually have 19 calls', { usual: { [WEEK + 30]: 19 } }, 0],
    [
      'of hours that have 20 calls in two periods',
      { usual: { [WEEK + 39]: 9, [WEEK + 21]: 11 } },
      1,
    ],
    ['before which there were calls', { usual: { [WEEK + 40]: 25 } }, 0],
    ['after which there were calls', { usual: { [WEEK + 20]: 25 } }, 0],
  ])('%s is told or not', async (_what, given, notes) => {
    expect(await notesOf(world(given))).toHaveLength(notes);
  });

  it('says so if the log no longer has all of these hours of the week before', async () => {
    const usual = { [WEEK + 40 - 1]: 12, [WEEK + 21]: 22 };
    const later = async (ms: number) => {
      const [note] = await notesOf(world({ usual }, { later: ms, rememberFor: 3 * DAY }));
      return /last week, (.*) arrived\. On/.exec(note?.text ?? '')?.[1];
    };
    // It began 6 hours and 40 minutes ago, and the log has 8 days. The last of its usual calls came 3.5 hours ago.
    const [begun, last] = [DAY - 40 * 10 * MINUTE, DAY - 21 * 10 * MINUTE];
    expect(await later(begun)).toBe('34 calls');
    expect(await later(begun + 1)).toBe('at least 34 calls');
    expect(await later(begun + 10 * MINUTE)).toBe('at least 34 calls');
    expect(await later(begun + 10 * MINUTE + 1)).toBe('at least 22 calls');
    expect(await later(last)).toBe('at least 22 calls');
    expect(await later(last + 1)).toBeUndefined();
  });

  it.each([
    ['all of it', [390, 200], [], 0],
    ['all but its first millisecond', [390 - 1 / MINUTE, 200], [], 1],
    ['all but its last millisecond', [390, 200 + 1 / MINUTE], [], 1],
    ['all of it for another tenant', [390, 200], ['acme'], 1],
  ] as const)(
    'is told unless a run has covered it: %s',
    async (_what, [since, until], of, notes) => {
      const spans = { [COMPLETED]: [{ since: ago(since), until: ago(until) }] };
      const name = of.length > 0 ? 'tenant:acme:call-webhooks.covered' : 'call-webhooks.covered';
      const cursors = { [name]: JSON.stringify(spans) };
      const marks = { [ack(COMPLETED, 'acme')]: NOW };
      const found = await notesOf(world({}, { cursors, marks }));
      expect(found).toHaveLength(notes);
    },
  );

  it('of a tenant is told unless a run of that tenant has covered it', async () => {
    const spans = JSON.stringify({ [COMPLETED]: [{ since: ago(390), until: ago(200) }] });
    const marks = { [ack(COMPLETED, 'acme')]: NOW };
    const found = (name: string) =>
      notesOf(world({ tenant: 'acme' }, { cursors: { [name]: spans }, marks }));
    expect(await found('tenant:acme:call-webhooks.covered')).toEqual([]);
    expect(await found('call-webhooks.covered')).toHaveLength(1);
  });
});

it('deliveries without a handler are notes, with their number and their event', async () => {
  const ignored = (eventName: string) => counterName('outcome', 'webhook', 'ignored', eventName);
  const { notes, attention } = await statusOf({
    counts: {
      minutes: minutesAgo({
        [26 * 60 + 1]: { [ignored(STARTED)]: 9 },
        [26 * 60]: { [ignored(STARTED)]: 1, [ignored('')]: 1_000 },
        5: { [ignored('')]: 234, [ignored(COMPLETED)]: 2 },
      }),
    },
  });
  expect(attention).toEqual([]);
  expect(new Set(notes.map(({ text }) => text))).toEqual(
    new Set([
      '1 delivery of `call:started` was acknowledged in the last 26 hours without a handler.',
      '1,234 deliveries of a custom payload were acknowledged in the last 26 hours without a handler.',
      '2 deliveries of `call:completed` were acknowledged in the last 26 hours without a handler.',
    ]),
  );
});

describe('deliveries without a handler, of receivers with tenants', () => {
  const outcome = (code: string, eventName: string) =>
    counterName('outcome', 'webhook', code, eventName);
  const arrived = (eventName: string, tenant: string) => counterName(eventName, tenant);
  const text = (deliveries: string, of: string) =>
    `${deliveries} of \`call:started\`${of} acknowledged in the last 26 hours without a handler.`;

  it.each<[what: string, arrivals: Record<string, number>, handled: number, notes: object[]]>([
    ['one', { acme: 9 }, 0, [{ tenant: 'acme', text: text('9 deliveries', ' of acme were') }]],
    [
      'one that also handles them',
      { acme: 9 },
      3,
      [{ tenant: 'acme', text: text('9 deliveries', ' of acme were') }],
    ],
    [
      'two',
      { acme: 8, globex: 1 },
      0,
      [
        { tenant: 'acme', text: text('8 deliveries', ' of acme were') },
        { tenant: 'globex', text: text('1 delivery', ' of globex was') },
      ],
    ],
    [
      'two, one of which may handle them',
      { acme: 8, globex: 4 },
      3,
      [{ text: text('9 deliveries', ' were') }],
    ],
    [
      'more than are counted by name',
      { acme: 8, '*': 1 },
      0,
      [{ text: text('9 deliveries', ' were') }],
    ],
    ['many, all of them together', { '*': 9 }, 0, [{ text: text('9 deliveries', ' were') }]],
  ])('are notes of their tenants: %s', async (_what, tenants, handled, expected) => {
    const { notes } = await statusOf({
      counts: {
        minutes: minutesAgo({
          5: { [outcome('ignored', STARTED)]: 9, [outcome('handled', COMPLETED)]: 7 },
          ...(handled > 0 && { 4: { [outcome('handled', STARTED)]: handled } }),
        }),
        arrivals: periodsAgo({
          1: Object.fromEntries(
            Object.entries(tenants).map(([name, count]) => [arrived(STARTED, name), count]),
          ),
          2: { [arrived(COMPLETED, 'initech')]: 5 },
          160: { [arrived(STARTED, 'initech')]: 5 },
        }),
      },
    });
    expect(notes).toEqual(expected);
  });
});

it.each([
  ['a dead letter of a delivery', 'webhook', 'dead-lettered', 1],
  ['a queued delivery', 'webhook', 'queued', 1],
  ['a failure, which is sent again', 'webhook', 'handler-failed', 2],
  ['a redrive of one from before', 'redrive', 'handled', 2],
])(
  'of ignored events, those of each tenant are known but for %s',
  async (_what, source, code, count) => {
    const outcome = (of: string, name: string) => counterName('outcome', of, name, STARTED);
    const { notes } = await statusOf({
      counts: {
        minutes: minutesAgo({
          5: { [outcome('webhook', 'ignored')]: 9 },
          4: { [outcome(source, code)]: 1 },
        }),
        arrivals: periodsAgo({
          1: { [counterName(STARTED, 'acme')]: 6, [counterName(STARTED, 'b')]: 4 },
        }),
      },
    });
    expect(notes).toHaveLength(count);
  },
);

describe('the state of an event', () => {
  const stateOf = async (written: Written, eventName: string = COMPLETED) => {
    const { events } = await statusOf(written);
    const [event] = events.filter((one) => one.eventName === eventName);
    return [event?.state, event?.why];
  };
  const SHORT =
    'The log is too short to say whether its silence is normal. It has to cover a week, or the event has to arrive in ten periods of ten minutes beside other events of the same calls.';
  /** So many periods with both events, and then calls without the end that they should have by now. */
  const early = (periods: number, missing: number, last = 30): Written => ({
    counts: {
      arrivals: periodsAgo({
        ...Object.fromEntries(
          Array.from({ length: periods }, (_, index) => [
            last + index,
            { [counterName(STARTED, '')]: 1, [counterName(COMPLETED, '')]: 1 },
          ]),
        ),
        5: { [counterName(STARTED, '')]: missing },
      }),
    },
    marks: { [ack(STARTED)]: ago(45), [ack(COMPLETED)]: ago(10 * last - 5) },
  });
  const since = (calls: string) =>
    `Since it arrived last, at 09:05 UTC, \`call:started\` has arrived for ${calls} that may lack it.`;

  it.each<[what: string, written: Written, state: string, why: string | undefined]>([
    ['that arrived 2 hours ago', { marks: { [ack(COMPLETED)]: ago(120) } }, 'arrives', undefined],
    ['that arrived earlier', { marks: { [ack(COMPLETED)]: ago(120) - 1 } }, 'unknown', SHORT],
    [
      'that arrived earlier, in a log of a week',
      {
        marks: { [ack(COMPLETED)]: ago(120) - 1 },
        counts: { arrivals: periodsAgo({ [WEEK]: { [counterName(COMPLETED, '')]: 1 } }) },
      },
      ...(['quiet', undefined] as const),
    ],
    [
      'that arrived earlier, in a log of almost a week',
      {
        marks: { [ack(COMPLETED)]: ago(120) - 1 },
        counts: { arrivals: periodsAgo({ [WEEK - 1]: { [counterName(COMPLETED, '')]: 1 } }) },
      },
      ...(['unknown', SHORT] as const),
    ],
    [
      'that arrived earlier, and is not expected',
      { marks: { [ack(COMPLETED)]: ago(121) }, asked: { expect: [STARTED] } },
      ...(['quiet', undefined] as const),
    ],
    [
      'that has just begun to arrive, so that nobody knows what is normal',
      early(9, 1),
      'unknown',
      `${since('1 call')} It has arrived in 9 of the 50 ten-minute periods that are needed to tell how long is normal, and until then a silence of it is not judged.`,
    ],
    [
      'that has arrived a while, so that only a long silence is judged',
      early(49, 2),
      'unknown',
      `${since('2 calls')} It has arrived in 49 of the 50 ten-minute periods that are needed to tell how long is normal. Until then, its absence is reported only for calls that are older than 4 hours.`,
    ],
    ['that has arrived for long', early(50, 2), 'quiet', undefined],
    ['that arrived 2 hours ago, and that two calls lack', early(50, 2, 12), 'quiet', undefined],
    ['that arrived 2 hours ago, and that no call lacks', early(50, 0, 12), 'arrives', undefined],
  ])('%s', async (_what, written, state, why) => {
    expect(await stateOf(written)).toEqual([state, why]);
  });

  it('that never arrived and is expected is unknown, once for all tenants', async () => {
    const { events } = await statusOf({
      marks: { [ack(COMPLETED, 'acme')]: NOW, [ack(COMPLETED, 'globex')]: NOW },
      asked: { expect: [COMPLETED, RECORDING] },
    });
    expect(
      events.map(({ tenant, eventName, state, why }) => [tenant, eventName, state, why]),
    ).toEqual([
      [undefined, RECORDING, 'unknown', 'No delivery of it has arrived in the last 30 days.'],
      ['acme', COMPLETED, 'arrives', undefined],
      ['globex', COMPLETED, 'arrives', undefined],
    ]);
  });

  it('has the times of all its secrets: when it arrived, and when it was acknowledged', async () => {
    const mark = (result: string, secret: string) => counterName(result, '', COMPLETED, secret);
    const { events } = await statusOf({
      marks: {
        [mark('ack', 'new')]: ago(30),
        [mark('ack', 'old')]: ago(90),
        [mark('failed', 'new')]: ago(5),
        [mark('failed', 'old')]: ago(60),
      },
    });
    expect(events).toEqual([
      {
        ...{ eventName: COMPLETED, state: 'arrives' },
        ...{ arrivedAt: ago(5), acknowledgedAt: ago(30) },
      },
    ]);
  });
});
