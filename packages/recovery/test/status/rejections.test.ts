import { describe, expect, it } from '@jest/globals';
import { counterName, type OutcomeRow } from '@call-webhooks/core/stores';
import { status, statusLine } from '@call-webhooks/recovery';
import { HOUR, MINUTE } from './service-model.ts';
import {
  ack,
  minutesAgo,
  NOW,
  periodsAgo,
  rowAt,
  statusOf,
  storeWith,
  type Written,
} from './written-log.ts';

describe('deliveries that cannot be verified', () => {
  const minutes = (names: readonly string[], start = NOW - 8 * MINUTE) =>
    Object.fromEntries(
      [0, 3, 6].map((minute) => [
        Math.floor(start / MINUTE) + minute,
        Object.fromEntries(names.map((name) => [name, 2])),
      ]),
    );

  it('name no event while all of them arrive', async () => {
    const counts = { minutes: minutes([counterName('rejected', 'signature-mismatch', '')]) };
    const marks = { [ack('call:completed')]: NOW - MINUTE };
    const { attention, events } = await status({ store: await storeWith({ counts, marks }) });
    expect(attention).toMatchObject([{ kind: 'rejected', urgent: false, count: 6 }]);
    expect(attention[0]?.text).toContain('All known events have arrived since');
    expect(events[0]?.state).toBe('arrives');
  });

  it('are one thing to look at, however many tenants somebody makes up', async () => {
    const names = Array.from({ length: 50 }, (_, index) =>
      counterName('rejected', 'signature-mismatch', `made-up-${String(index)}`),
    );
    const marks = { [ack('call:completed', 'acme')]: NOW - 12 * HOUR };
    const store = await storeWith({ counts: { minutes: minutes(names) }, marks });
    const { attention } = await status({ store });
    expect(attention).toMatchObject([{ kind: 'rejected', urgent: false, count: 300 }]);
    expect(attention[0]?.text).toContain('50 tenants that have never had a verified delivery');
    expect(attention[0]).not.toHaveProperty('tenant');
  });

  it.each([
    ['timestamp-out-of-tolerance', 'NTP'],
    ['body-already-parsed', 'keepRawBody'],
    ['secret-unavailable', 'secrets manager'],
    ['signature-mismatch', 'rotated'],
  ])('say what to do about %s', async (outcome, fix) => {
    const counts = { minutes: minutes([counterName('rejected', outcome, '')]) };
    const marks = { [ack('call:completed')]: NOW - HOUR };
    const { attention } = await status({ store: await storeWith({ counts, marks }) });
    expect(attention).toMatchObject([
      { kind: 'rejected', urgent: true, eventName: 'call:completed' },
    ]);
    expect(attention[0]?.fix).toContain(fix);
  });
});

describe('rejections of the last minutes', () => {
  const rejected = (tenant: string, at: number, webhookId = 'w'): OutcomeRow => ({
    ...{ at, process: 'p', durationMs: 1, source: 'webhook', outcome: 'signature-mismatch' },
    ...{ webhookId, ...(tenant !== '' && { tenant }) },
  });
  const counted = (tenant: string, at: number) => ({
    [Math.floor(at / MINUTE)]: { [counterName('rejected', 'signature-mismatch', tenant)]: 1 },
  });

  it('are in the line at once, with their time, and the events that have not arrived since are unknown', async () => {
    const firstAt = NOW - 2 * MINUTE + 7_001;
    const marks = {
      [ack('call:started')]: NOW - MINUTE,
      [ack('call:completed')]: NOW - 20 * MINUTE,
    };
    const failures = [rejected('', firstAt)];
    const counts = { minutes: counted('', firstAt) };
    const store = await storeWith({ failures, counts, marks });
    const found = await status({ store, timeZone: 'UTC' });
    expect(found.attention).toEqual([]);
    expect(found.undecided).toEqual([
      { since: firstAt, count: 1, text: expect.stringContaining('too early to tell why') },
    ]);
    expect(found.events).toMatchObject([
      { eventName: 'call:completed', state: 'unknown' },
      { eventName: 'call:started', state: 'arrives' },
    ]);
    expect(found.events[0]?.why).toContain('have failed verification since 13:58 UTC');
    expect(statusLine(found)).toMatch(
      /^1 delivery has failed verification since 13:58 UTC \(`signature-mismatch`\)\. .* 1 of 2 events is arriving; `call:completed` arrived last at 13:40 UTC/,
    );
  });

  it('leave a quiet night quiet, and are forgotten once their retry would have arrived', async () => {
    const at = NOW - 30_000;
    const marks = { [ack('call:completed')]: NOW - 8 * HOUR };
    const store = await storeWith({ counts: { minutes: counted('', at) }, marks });
    const now = await status({ store });
    expect(now.attention).toEqual([]);
    expect(statusLine(now)).toMatch(/too early to tell why: .* Quiet since /);
    const later = await status({ store, now: () => NOW + 9 * MINUTE });
    expect([later.attention, later.undecided]).toEqual([[], []]);
    expect(statusLine(later)).toMatch(/^Quiet since /);
  });

  it('of one tenant leave the events of another one alone, and made-up tenants are one entry', async () => {
    const at = NOW - MINUTE;
    const tenants = ['acme', 'made-up-1', 'made-up-2'];
    const counts = {
      minutes: {
        [at / MINUTE]: Object.fromEntries(
          tenants.flatMap((one) => Object.entries(counted(one, at)[at / MINUTE] ?? {})),
        ),
      },
    };
    const marks = {
      [ack('call:completed', 'acme')]: NOW - 9 * MINUTE,
      [ack('call:completed', 'globex')]: NOW - 9 * MINUTE,
    };
    const { undecided, events } = await status({ store: await storeWith({ counts, marks }) });
    expect(undecided).toMatchObject([{ count: 1, tenant: 'acme' }, { count: 2 }]);
    expect(undecided[0]?.text).toContain('1 delivery of acme has');
    expect(undecided[1]).not.toHaveProperty('tenant');
    expect(events).toMatchObject([
      { tenant: 'acme', state: 'unknown' },
      { tenant: 'globex', state: 'arrives' },
    ]);
  });

  it('are said once: when they need attention, they are no longer undecided', async () => {
    const counts = {
      minutes: { ...counted('', NOW - 6 * MINUTE), ...counted('', NOW - MINUTE) },
    };
    const marks = { [ack('call:completed')]: NOW - 20 * MINUTE };
    const found = await status({ store: await storeWith({ counts, marks }) });
    expect(found).toMatchObject({ attention: [{ kind: 'rejected' }], undecided: [] });
  });

  it('accuse nobody because of a rotation that was mended hours before', async () => {
    const begun = NOW - 5 * HOUR;
    const mended = begun + 10 * MINUTE;
    const forged = NOW - MINUTE;
    const rejections = [begun, begun + 5 * MINUTE, forged];
    const handled: OutcomeRow = {
      ...{ at: mended, process: 'p', durationMs: 1, source: 'webhook', outcome: 'handled' },
      ...{ webhookId: 'verified', eventName: 'call:completed' },
    };
    const store = await storeWith({
      rows: [handled],
      failures: rejections.map((at) => rejected('', at, `w-${String(at)}`)),
      counts: {
        minutes: Object.fromEntries(rejections.flatMap((at) => Object.entries(counted('', at)))),
      },
      marks: { [ack('call:completed')]: NOW - 2 * MINUTE },
    });
    const atOnce = await status({ store, now: () => mended + MINUTE });
    expect(atOnce.attention).toEqual([]);
    expect(atOnce.notes).toMatchObject([{ text: expect.stringContaining('have ended') }]);
    const found = await status({ store });
    expect(found.attention).toEqual([]);
    expect(found.undecided).toMatchObject([{ since: forged, count: 1 }]);
  });
});

describe('rejections that have ended', () => {
  const ago = (minutes: number) => NOW - minutes * MINUTE;
  const name = counterName('rejected', 'signature-mismatch', '');
  const world = (more: Partial<Written> = {}, later: readonly number[] = []) =>
    statusOf({
      counts: {
        minutes: minutesAgo(
          Object.fromEntries([60, 55, 50, ...later].map((minutes) => [minutes, { [name]: 2 }])),
        ),
      },
      rows: [rowAt(45, { outcome: 'handled', secretId: 'secret-2' })],
      marks: { [ack('call:completed')]: ago(45), [ack('call:started')]: ago(70) },
      ...more,
    });
  const ended = (by = ' with the secret `secret-2`') =>
    `\`call:completed\`, which had not arrived while deliveries were rejected, was verified${by} at 13:15 UTC.`;
  const others =
    ' One event has not arrived since, which may be normal: `call:started`, last verified with the secret `secret-1` at 12:50 UTC.';
  const docs = 'https://call-webhooks.github.io/call-webhooks/status.html#rejected';

  it('while another event may still be concerned, name the event, its secret and both times', async () => {
    const found = await world();
    expect(found.attention).toEqual([
      {
        ...{ kind: 'rejected', urgent: false, since: ago(60), until: ago(50), count: 6, docs },
        text: `6 deliveries could not be verified from 13:00 UTC to 13:10 UTC (\`signature-mismatch\`). The rejections have ended: ${ended()}${others}`,
        fix: 'If the secret of such an event was rotated as well, configure the new one.',
      },
    ]);
    expect(found.notes).toEqual([]);
    expect(found.events).toMatchObject([{ state: 'arrives' }, { state: 'attention' }]);
  });

  it.each([
    ['before the minute of the first one was over', 59 + 1 / MINUTE, 1],
    ['after that', 59, 0],
    ['after the rejections had ended', 40, 0],
  ])('suspect another event only if it arrived last %s', async (_what, minutes, items) => {
    const { attention } = await world({
      marks: { [ack('call:completed')]: ago(45), [ack('call:started')]: ago(minutes) },
    });
    expect(attention).toHaveLength(items);
  });

  it('after others of the same day are told as if they were the only ones', async () => {
    const earlier = [300, 295, 290, 200, 195, 130, 125, 120];
    expect((await world({}, earlier)).attention).toEqual((await world()).attention);
  });

  it('and of which nothing is missing are a note, for as long as a retry may come', async () => {
    const found = async (later: number) =>
      statusOf({
        counts: { minutes: minutesAgo({ 13: { [name]: 2 }, 8: { [name]: 3 } }) },
        rows: [rowAt(3, { outcome: 'handled' })],
        marks: { [ack('call:completed')]: ago(3) },
        later,
      });
    expect(await found(0)).toMatchObject({
      ...{ attention: [], undecided: [] },
      notes: [
        {
          text: '5 deliveries could not be verified from 13:47 UTC to 13:52 UTC (`signature-mismatch`). The rejections have ended: `call:completed`, which had not arrived while deliveries were rejected, was verified at 13:57 UTC.',
        },
      ],
    });
    expect(await found(1)).toMatchObject({ attention: [], undecided: [], notes: [] });
  });

  it('are not over while the retry of the last one may come: another event is still suspected', async () => {
    const { attention } = await statusOf({
      counts: { minutes: minutesAgo({ 13: { [name]: 2 }, 8: { [name]: 2 }, 3: { [name]: 2 } }) },
      rows: [rowAt(1, { outcome: 'handled' })],
      marks: { [ack('call:completed')]: ago(1), [ack('call:started')]: ago(20) },
    });
    expect(
      attention.map(({ urgent, eventName, count, until }) => [urgent, eventName, count, until]),
    ).toEqual([[true, 'call:started', 6, undefined]]);
  });

  it('name the secret that verified the last delivery, not that of an older one', async () => {
    const mark = (secret: string) => counterName('ack', '', 'call:completed', secret);
    for (const order of [
      ['new', 'old'],
      ['old', 'new'],
    ]) {
      const times: Record<string, number> = { new: ago(20), old: ago(90) };
      const { attention } = await statusOf({
        counts: { minutes: minutesAgo({ 6: { [name]: 1 }, 1: { [name]: 1 } }) },
        marks: Object.fromEntries(order.map((secret) => [mark(secret), times[secret]!])),
      });
      expect(attention[0]?.text).toContain('last verified with the secret `new` at 13:40 UTC.');
    }
  });

  it('and begin again are told since they began again, with how many they are', async () => {
    const found = await world({}, [3, 1]);
    expect(found.attention).toEqual([
      {
        ...{ kind: 'rejected', urgent: false, since: ago(3), count: 4, docs },
        text: `4 deliveries have failed verification since 13:57 UTC (\`signature-mismatch\`), after earlier rejections had ended: ${ended()}${others}`,
        fix: 'If a secret was rotated, or an action created, configure its secret. Forged requests cause this message, too.',
      },
    ]);
    expect(found.undecided).toEqual([]);
  });

  it.each([
    ['of the service', {}, true],
    ['that came late', { late: true as const }, false],
    ['of a redrive', { source: 'redrive' as const }, false],
    ['of another tenant', { tenant: 'acme' }, false],
    ['before them', { at: ago(61) }, false],
    ['8 minutes after them', { at: ago(42) }, true],
    ['more than 8 minutes after them', { at: ago(42) + 1 }, false],
  ])('have ended with a delivery %s', async (_what, more, isEnd) => {
    const { attention } = await world({ rows: [rowAt(45, { outcome: 'handled', ...more })] });
    expect(attention.map(({ until, urgent }) => [until, urgent])).toEqual([
      isEnd ? [ago(50), false] : [undefined, true],
    ]);
  });
});

describe('the events that rejections concern', () => {
  const name = counterName('rejected', 'signature-mismatch', '');
  const ago = (minutes: number) => NOW - minutes * MINUTE;
  const at = (...all: readonly number[]) =>
    minutesAgo(Object.fromEntries(all.map((one) => [one, { [name]: 1 }])));
  const arrivals = (counts: Readonly<Record<number, readonly [number, number]>>) =>
    periodsAgo(
      Object.fromEntries(
        Object.entries(counts).map(([period, [completed, started]]) => [
          period,
          {
            [counterName('call:completed', '')]: completed,
            [counterName('call:started', '')]: started,
          },
        ]),
      ),
    );
  const suspected = async (written: Written) =>
    (await statusOf(written)).attention.map(({ urgent, eventName, until }) => [
      ...[urgent, eventName, until],
    ]);

  it('are those that used to arrive a fifth as often as the most frequent one', async () => {
    const marks = { [ack('call:completed')]: ago(30), [ack('call:started')]: ago(30) };
    const world = (started: number) => ({
      counts: { minutes: at(6, 1), arrivals: arrivals({ 9: [10, started] }) },
      marks,
    });
    expect(await suspected(world(2))).toEqual([[true, undefined, undefined]]);
    expect(await suspected(world(1))).toEqual([[true, 'call:completed', undefined]]);
  });

  it('are none of those that arrived in the middle of them', async () => {
    const marks = { [ack('call:completed')]: ago(40), [ack('call:started')]: ago(13) };
    expect(await suspected({ counts: { minutes: at(30, 25, 20, 15, 10, 5, 1) }, marks })).toEqual([
      [true, 'call:completed', undefined],
    ]);
  });

  it('are judged by how often they arrived before, not since', async () => {
    const world = (counts: Readonly<Record<number, readonly [number, number]>>) => ({
      counts: { minutes: at(60, 55, 50), arrivals: arrivals(counts) },
      rows: [rowAt(45, { outcome: 'handled' })],
      marks: { [ack('call:completed')]: ago(1), [ack('call:started')]: ago(70) },
    });
    expect(await suspected(world({ 9: [10, 10], 3: [100, 0] }))).toEqual([
      [false, undefined, ago(50)],
    ]);
    expect(await suspected(world({ 9: [100, 10], 3: [1, 0] }))).toEqual([]);
  });

  it('are not told from what was verified in the last half hour of them', async () => {
    // What was verified in the middle of a series, and again after it, has not been mended in between.
    const world = (minutes: number) => ({
      counts: { minutes: at(...Array.from({ length: 13 }, (_, index) => 30 + 4 * index)) },
      rows: [minutes, 25].map((one) => rowAt(one, { outcome: 'handled' as const })),
      marks: { [ack('call:completed')]: ago(25), [ack('call:started')]: ago(90) },
    });
    expect(await suspected(world(57))).toEqual([[true, 'call:started', undefined]]);
    expect(await suspected(world(61))).toEqual([[false, undefined, ago(30)]]);
  });
});

describe('undecided rejections of several tenants', () => {
  it('are told with the oldest one first, each with its own figures', async () => {
    const rejected = (tenant: string, outcome = 'signature-mismatch') =>
      counterName('rejected', outcome, tenant);
    const found = await statusOf({
      counts: {
        minutes: minutesAgo({
          60: { [rejected('acme')]: 9 }, // of long ago
          5: { [rejected('made-up')]: 1, [rejected('made-up-2')]: 3 },
          4: { [rejected('globex', 'secret-unavailable')]: 2 },
          2: { [rejected('acme')]: 1 },
          1: { [rejected('globex', 'timestamp-out-of-tolerance')]: 5 },
        }),
      },
      marks: {
        [ack('call:completed', 'acme')]: NOW,
        [ack('call:completed', 'globex')]: NOW - 10 * MINUTE,
      },
    });
    const text = (of: string, time: string, outcome: string) =>
      `${of} failed verification since ${time} UTC (\`${outcome}\`). It is too early to tell why: the service sends a genuine delivery again after about 5 minutes.`;
    expect(found.undecided).toEqual([
      {
        ...{ since: NOW - 5 * MINUTE, count: 4 },
        text: text('4 deliveries have', '13:55', 'signature-mismatch'),
      },
      {
        ...{ tenant: 'globex', since: NOW - 4 * MINUTE, count: 7 },
        text: text('7 deliveries of globex have', '13:56', 'timestamp-out-of-tolerance'),
      },
      {
        ...{ tenant: 'acme', since: NOW - 2 * MINUTE, count: 1 },
        text: text('1 delivery of acme has', '13:58', 'signature-mismatch'),
      },
    ]);
    expect([found.attention, found.notes]).toEqual([[], []]);
    expect(found.events).toEqual([
      {
        ...{ tenant: 'acme', eventName: 'call:completed', state: 'arrives' },
        ...{ arrivedAt: NOW, acknowledgedAt: NOW },
      },
      {
        ...{ tenant: 'globex', eventName: 'call:completed', state: 'unknown' },
        ...{ arrivedAt: NOW - 10 * MINUTE, acknowledgedAt: NOW - 10 * MINUTE },
        why: 'Deliveries have failed verification since 13:56 UTC, and it has not arrived since. It is too early to tell whether any of them were deliveries of this event.',
      },
    ]);
  });
});
