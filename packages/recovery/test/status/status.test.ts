import { describe, expect, it } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import { counterName, type OutcomeRow } from '@call-webhooks/core/stores';
import { status, statusLine } from '@call-webhooks/recovery';
import { DAY, HOUR, MINUTE } from './service-model.ts';
import { ack, NOW, storeWith } from './written-log.ts';

describe('a status', () => {
  it('says that all events are arriving, or since when it is quiet', async () => {
    const marks = {
      [ack('call:started')]: NOW - MINUTE,
      [ack('call:completed')]: NOW - 15 * MINUTE,
      [ack('lead/created')]: NOW - 90 * MINUTE,
    };
    const busy = await status({ store: await storeWith({ marks }), timeZone: 'UTC' });
    expect(statusLine(busy)).toBe('No event is overdue; `lead/created` arrived last at 12:30 UTC.');
    const all = { ...marks, [ack('lead/created')]: NOW };
    expect(statusLine(await status({ store: await storeWith({ marks: all }) }))).toBe(
      'All 3 events are arriving.',
    );
    expect(busy.events.map(({ eventName, state }) => [eventName, state])).toEqual([
      ['call:completed', 'arrives'],
      ['call:started', 'arrives'],
      ['lead/created', 'arrives'],
    ]);
    const later = await status({ store: await storeWith({ marks }, NOW + DAY) });
    expect(statusLine(later)).toMatch(
      /^Quiet since \w+ \d\d:\d\d \S+\. It is too early to tell whether that is normal\.$/,
    );
    const one = { [ack('call:completed')]: NOW - MINUTE };
    expect(statusLine(await status({ store: await storeWith({ marks: one }) }))).toBe(
      '`call:completed` is arriving.',
    );
  });

  it('says which events do not arrive, and that nobody can tell whether that is normal', async () => {
    const marks = {
      [ack('call:started', 'acme')]: NOW - MINUTE,
      [ack('call:completed', 'acme')]: NOW - 5 * HOUR,
    };
    const expectNames = ['call:started', 'call:completed', 'call:recording-available'];
    const found = await status({ store: await storeWith({ marks }), expect: expectNames });
    expect(found.events).toEqual([
      {
        eventName: 'call:recording-available',
        state: 'unknown',
        why: 'No delivery of it has arrived in the last 30 days.',
      },
      {
        ...{ tenant: 'acme', eventName: 'call:completed', state: 'unknown' },
        ...{ arrivedAt: NOW - 5 * HOUR, acknowledgedAt: NOW - 5 * HOUR },
        why: expect.stringContaining('has to cover a week'),
      },
      {
        ...{ tenant: 'acme', eventName: 'call:started', state: 'arrives' },
        ...{ arrivedAt: NOW - MINUTE, acknowledgedAt: NOW - MINUTE },
      },
    ]);
    expect(statusLine(found)).toMatch(
      /^1 of 3 events is arriving; `call:recording-available` has never arrived; `call:completed` of acme arrived last at \d\d:00 /,
    );
    const other = await status({ store: await storeWith({ marks }), expect: ['call:started'] });
    expect(statusLine(other)).toMatch(
      /^1 of 2 events is arriving; `call:completed` of acme arrived last at \d\d:00 \S+\.$/,
    );
  });

  it('knows nothing without deliveries, or without a log', async () => {
    const { log: _, ...blind } = memoryStore();
    const found = await status({ store: blind });
    expect(found).toMatchObject({ attention: [], events: [] });
    expect(statusLine(found)).toBe('Unknown: The store keeps no outcome log.');
    const fresh = await status({ store: memoryStore() });
    expect(fresh.unknown).toBeUndefined();
    expect(statusLine(fresh)).toBe('No verified delivery has arrived in the last 30 days.');
  });

  it('is that of the store alone if it does not answer, and shows no password', async () => {
    const store = memoryStore();
    const ping = () =>
      Promise.reject(new Error('connect ECONNREFUSED redis://user:pa55word@10.0.0.1:6379'));
    const found = await status({ store: { ...store, ping } });
    expect(found.attention).toEqual([
      {
        ...{ kind: 'store', urgent: true, since: found.at, count: 1 },
        text: expect.stringMatching(/does not answer.*ECONNREFUSED/),
        fix: expect.stringContaining('server'),
        docs: expect.stringMatching(/\/status\.html#store$/),
      },
    ]);
    expect(JSON.stringify(found)).not.toContain('pa55word');
    expect(statusLine(found)).toBe('1 thing needs attention: the store does not answer.');
  });

  it('says so if only the log cannot be read', async () => {
    const store = memoryStore();
    const log = { ...store.log, marks: () => Promise.reject(new Error('WRONGTYPE')) };
    const found = await status({ store: { ...store, log } as never });
    expect(found.attention).toMatchObject([{ kind: 'store', urgent: false }]);
    expect(statusLine(found)).toBe('1 thing needs attention: the outcome log cannot be read.');
  });

  it('has its times in the zone that is asked for', async () => {
    const store = await storeWith({ marks: { [ack('call:completed')]: NOW } });
    const asked = { store, now: () => NOW + 5 * HOUR };
    const tokyo = await status({ ...asked, timeZone: 'Asia/Tokyo' });
    expect(tokyo.timeZone).toBe('Asia/Tokyo');
    expect(statusLine(tokyo)).toMatch(/^Quiet since Monday 23:00 GMT\+9\. /);
    expect(statusLine(await status({ ...asked, timeZone: 'UTC' }))).toMatch(
      /^Quiet since 14:00 UTC\. /,
    );
    await expect(status({ ...asked, timeZone: 'Mars/Base' })).rejects.toThrow('timeZone');
  });

  it('refuses wrong options by name', async () => {
    await expect(status({ store: 'redis' } as never)).rejects.toThrow(/status: store/);
    const unknown = { store: memoryStore(), tenant: 'acme' };
    await expect(status(unknown)).rejects.toThrow('there is no option "tenant"');
  });

  it('judges at another time if it is told to', async () => {
    const store = await storeWith({ marks: { [ack('call:completed')]: NOW } });
    const found = await status({ store, now: () => NOW + 3 * DAY });
    expect(found.at).toBe(NOW + 3 * DAY);
    expect(statusLine(found)).toMatch(/^Quiet since/);
  });
});

describe('an event of many tenants', () => {
  it('is unknown beyond those that are counted by name', async () => {
    const marks = { [ack('call:completed', '*')]: NOW - DAY };
    const { events, attention } = await status({ store: await storeWith({ marks }) });
    expect(attention).toEqual([]);
    expect(events).toMatchObject([{ tenant: '*', state: 'unknown' }]);
    expect(events[0]?.why).toContain('100 tenants');
  });
});

describe('events whose keys are redacted', () => {
  const failed = (minute: number, attempt: number): OutcomeRow => ({
    ...{ at: NOW - minute * MINUTE, process: 'p', durationMs: 1, source: 'webhook', attempt },
    ...{ outcome: 'handler-failed', webhookId: `w${String(minute)}` },
    ...{ eventName: 'call:completed', key: '[redacted]:call:completed' },
  });

  it('are not taken for one event, whose attempts would be those of all', async () => {
    const marks = { [ack('call:completed')]: NOW - 2 * MINUTE };
    const each = [9, 5, 1].map((minute) => failed(minute, 1));
    const store = await storeWith({ failures: each, marks });
    expect((await status({ store })).attention).toEqual([]);
    const last = await storeWith({ failures: [...each, failed(0, 3)], marks });
    expect((await status({ store: last })).attention).toMatchObject([
      { kind: 'failing', urgent: true, eventName: 'call:completed' },
    ]);
  });
});

describe('dead letters of tenants', () => {
  const letter = (tenant: string, minute: number): OutcomeRow => ({
    ...{ at: NOW - minute * MINUTE, process: 'p', durationMs: 1, source: 'webhook', tenant },
    ...{ outcome: 'dead-lettered', webhookId: `${tenant}${String(minute)}`, attempt: 3 },
    ...{ eventName: 'call:completed', key: `${tenant}-${String(minute)}:call:completed` },
  });
  const name = counterName('outcome', 'webhook', 'dead-lettered', 'call:completed');

  it('are told of the tenant that has them', async () => {
    const failures = [letter('acme', 30), letter('acme', 20)];
    const counts = {
      minutes: { [NOW / MINUTE - 30]: { [name]: 1 }, [NOW / MINUTE - 20]: { [name]: 1 } },
    };
    const marks = { [ack('call:completed', 'globex')]: NOW - MINUTE };
    const { attention } = await status({ store: await storeWith({ failures, counts, marks }) });
    expect(attention).toMatchObject([
      { kind: 'failing', urgent: false, tenant: 'acme', count: 2, since: NOW - 30 * MINUTE },
    ]);
    expect(attention[0]?.text).toContain('Dead letters cannot pause the rule.');
  });

  it('are no longer told once a redrive has handled them', async () => {
    const store = memoryStore({ now: () => NOW });
    const rows = [letter('', 30), letter('', 20)];
    await store.log?.append({
      ...{ id: 'batch', rows: [], failures: rows, marks: {} },
      counts: {
        minutes: { [NOW / MINUTE - 30]: { [name]: 1 }, [NOW / MINUTE - 20]: { [name]: 1 } },
      },
      process: { id: 'p', host: 'h', pid: 1, startedAt: NOW - DAY, at: NOW, inFlight: 0 },
    });
    const redriven = async (key: string) => {
      const claim = { key, token: key, webhookId: key, replayUntil: NOW, leaseMs: 60_000 };
      await store.admit(claim);
      await store.complete(key, key);
    };
    expect((await status({ store })).attention).toMatchObject([{ count: 2 }]);
    await redriven(rows[0]?.key ?? '');
    const { attention } = await status({ store });
    expect(attention).toMatchObject([{ count: 1, since: NOW - 20 * MINUTE }]);
    expect(attention[0]?.text).toContain('no redrive has handled it so far');
    await redriven(rows[1]?.key ?? '');
    expect((await status({ store })).attention).toEqual([]);
  });

  it('are told of a queue for as long as the log has them, since its store knows the events as handled', async () => {
    const store = memoryStore({ now: () => NOW });
    const [dead, redriven] = [
      { ...letter('', 30), source: 'queue' as const },
      { ...letter('', 20), source: 'webhook' as const },
    ];
    const ofQueue = counterName('outcome', 'queue', 'dead-lettered', 'call:completed');
    await store.log?.append({
      ...{ id: 'batch', rows: [], failures: [dead, redriven], marks: {} },
      counts: {
        minutes: { [NOW / MINUTE - 30]: { [ofQueue]: 1 }, [NOW / MINUTE - 20]: { [name]: 1 } },
      },
      process: { id: 'p', host: 'h', pid: 1, startedAt: NOW - DAY, at: NOW, inFlight: 0 },
    });
    for (const { key = '' } of [dead, redriven]) {
      await store.admit({ key, token: key, webhookId: key, replayUntil: NOW, leaseMs: 60_000 });
      await store.complete(key, key);
    }
    expect((await status({ store })).attention).toMatchObject([
      { kind: 'failing', count: 1, since: NOW - 30 * MINUTE },
    ]);
  });

  it('are counted by a process whose clock is a minute ahead', async () => {
    const counts = { minutes: { [NOW / MINUTE + 1]: { [name]: 1 } } };
    const { attention } = await status({ store: await storeWith({ counts }) });
    expect(attention).toMatchObject([{ kind: 'failing', count: 1 }]);
  });
});

describe('a queue', () => {
  const queued = { [counterName('outcome', 'webhook', 'queued', 'call:completed')]: 1 };
  const endedAt = NOW - 40 * MINUTE;

  // By clocks that differ by 5 minutes, what was queued before the last job ended looks as if it came after.
  it.each([
    ['is not stuck for what was queued 5 minutes after the last job, by another clock', 5, []],
    ['is stuck for what was queued 6 minutes after the last job', 6, [{ kind: 'stuck', count: 1 }]],
  ])('%s', async (_, later, expected) => {
    const counts = { minutes: { [endedAt / MINUTE + later]: queued } };
    const store = await storeWith({ counts, marks: { queue: endedAt } });
    expect((await status({ store })).attention).toMatchObject(expected);
  });

  it('is stuck 15 minutes after the first delivery that waits, not earlier', async () => {
    for (const [waits, expected] of [
      [14, []],
      [15, [{ kind: 'stuck', since: NOW - 15 * MINUTE }]],
    ] as const) {
      const counts = { minutes: { [NOW / MINUTE - waits]: queued } };
      const store = await storeWith({ counts, marks: { queue: endedAt } });
      expect((await status({ store })).attention).toMatchObject(expected);
    }
  });

  it('is stuck with all deliveries that were queued since the last job, and is no danger to a rule', async () => {
    const row = (source: 'webhook' | 'queue', key: string, at: number): OutcomeRow => ({
      ...{ source, key, at, process: 'p', durationMs: 1, webhookId: key },
      outcome: source === 'queue' ? 'handled' : 'queued',
    });
    const rows = [
      ...[row('webhook', 'c1', endedAt - MINUTE), row('webhook', 'c2', endedAt + 1_000)],
      ...[row('queue', 'c1', endedAt), row('queue', 'c2', endedAt - 1)], // by a clock that is a second behind
      ...[2, 3, 20].map((later) => row('webhook', `w${String(later)}`, endedAt + later * MINUTE)),
    ];
    const counts = {
      minutes: Object.fromEntries(
        [2, 3, 20].map((later) => [endedAt / MINUTE + later, queued] as const),
      ),
    };
    const store = await storeWith({ rows, counts, marks: { queue: endedAt } });
    const { attention } = await status({ store });
    expect(attention).toMatchObject([
      { kind: 'stuck', urgent: false, count: 3, since: endedAt + 2 * MINUTE },
    ]);
    expect(attention[0]?.fix).toContain('`curl -i http://WORKER:3001/ready`');
  });
});

describe('events that fail', () => {
  const failed = (call: string, minute: number, error: string, attempt = 1): OutcomeRow => ({
    ...{ at: NOW - minute * MINUTE + 7, process: 'p', durationMs: 1, source: 'webhook', attempt },
    ...{ outcome: 'handler-failed', webhookId: `${call}${String(minute)}`, error },
    ...{ eventName: 'call:completed', key: `${call}:call:completed`, callId: call },
  });
  const refused = 'The handler failed: Error: connect ECONNREFUSED 10.0.0.5:5432';

  it('are counted with those that failed once, with their most frequent error and the first failure', async () => {
    const failures = [
      ...[failed('c1', 11, refused), failed('c1', 6, refused, 2), failed('c1', 1, refused, 3)],
      ...[failed('c2', 4, refused), failed('c3', 2, 'The handler failed: Error: no contact "x y"')],
    ];
    const marks = { [counterName('failed', '', 'call:completed', 's')]: NOW - MINUTE };
    const { attention } = await status({ store: await storeWith({ failures, marks }) });
    expect(attention).toMatchObject([{ kind: 'failing', count: 3, since: NOW - 11 * MINUTE + 7 }]);
    expect(attention[0]?.text).toContain('3 events are failing. The oldest one has failed 3 times');
    expect(attention[0]?.text).toContain(
      'The most frequent error is `Error: connect ECONNREFUSED 10.0.0.5:5432` (4 of 5 failures).',
    );
  });

  it('come before what is less important, of what is not urgent', async () => {
    const deadLetters = counterName('outcome', 'webhook', 'dead-lettered', 'call:completed');
    const rejected = counterName('rejected', 'signature-mismatch', '');
    const slow = (bucket: number, eventName = 'call:started') =>
      counterName('deliveryMs', eventName, String(bucket));
    const counts = {
      minutes: {
        [NOW / MINUTE - 30]: { [deadLetters]: 3 },
        [NOW / MINUTE - 8]: { [rejected]: 2 },
        [NOW / MINUTE - 3]: { [rejected]: 2 },
      },
      times: {
        [Math.floor(NOW / 600_000) - 6]: { [slow(55)]: 9 },
        [Math.floor(NOW / 600_000) - 9]: { [slow(55, 'call:completed')]: 9 },
        [Math.floor(NOW / 600_000) - 3]: { [slow(55, 'call:recording-available')]: 9 },
      },
    };
    const marks = { [ack('call:started')]: NOW - MINUTE };
    const { attention } = await status({ store: await storeWith({ counts, marks }) });
    // Of one kind, what has lasted longest comes first.
    expect(attention.map(({ kind, urgent, eventName }) => [kind, urgent, eventName])).toEqual([
      ['rejected', false, undefined],
      ['failing', false, 'call:completed'],
      ['slow', false, 'call:completed'],
      ['slow', false, 'call:started'],
      ['slow', false, 'call:recording-available'],
    ]);
  });

  it('are slow by the version of the app that handled the first one', async () => {
    const store = await storeWith({});
    const slowRow = (minute: number, process: string, durationMs: number): OutcomeRow => ({
      ...{ at: NOW - minute * MINUTE, process, durationMs, source: 'webhook', outcome: 'handled' },
      ...{ webhookId: `w${String(minute)}`, eventName: 'call:completed' },
    });
    const name = counterName('deliveryMs', 'call:completed', '55');
    const quick = counterName('deliveryMs', 'call:completed', '20');
    const period = Math.floor((NOW - 9 * MINUTE) / 600_000);
    for (const [version, rows, counted] of [
      ['1', [slowRow(9.9, 'p1', 30)], { [quick]: 1 }],
      ['2', [9, 8, 7, 6].map((minute) => slowRow(minute, 'p2', 14_000)), { [name]: 4 }],
    ] as const)
      await store.log?.append({
        ...{ id: version, rows, failures: [], marks: {}, counts: { times: { [period]: counted } } },
        process: {
          ...{ id: `p${version}`, host: 'h', pid: 1, at: NOW, inFlight: 0, version },
          startedAt: NOW - 10 * MINUTE,
        },
      });
    const { attention } = await status({ store, timeZone: 'UTC' });
    expect(attention).toMatchObject([{ kind: 'slow', since: NOW - 9 * MINUTE, count: 4 }]);
    expect(attention[0]?.text).toMatch(
      /^4 of 4 deliveries of .* Version `2` of your app, whose process started at 13:50 UTC, handled the first of them\./,
    );
  });
});

describe('what else is told', () => {
  it('is a note about events without a handler', async () => {
    const name = counterName('outcome', 'webhook', 'ignored', 'call:started');
    const counts = { minutes: { [NOW / MINUTE - 5]: { [name]: 7 } } };
    const { attention, notes } = await status({ store: await storeWith({ counts }) });
    expect(attention).toEqual([]);
    expect(notes).toEqual([
      {
        text: '7 deliveries of `call:started` were acknowledged in the last 26 hours without a handler.',
      },
    ]);
  });

  it('is that deliveries without a key fail, as while a receiver is overloaded', async () => {
    const row = (minute: number): OutcomeRow => ({
      ...{ at: NOW - minute * MINUTE, process: 'p', durationMs: 1 },
      ...{ outcome: 'overloaded', source: 'webhook', webhookId: `w${String(minute)}` },
    });
    const failures = [10, 6, 1].map(row);
    const { attention } = await status({ store: await storeWith({ failures }) });
    expect(attention).toMatchObject([{ kind: 'failing', urgent: true, since: NOW - 10 * MINUTE }]);
    expect(attention[0]?.text).toMatch(
      /^Deliveries are failing \(`overloaded`\)\. 3 deliveries failed .* Each time, the error was `overloaded`/,
    );
    const paused = [30, 16, 1].map(row);
    expect((await status({ store: await storeWith({ failures: paused }) })).attention).toEqual([]);
  });
});
