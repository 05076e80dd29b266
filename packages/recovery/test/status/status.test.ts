import { describe, expect, it } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import { counterName, type OutcomeBatch, type OutcomeRow } from '@call-webhooks/core/stores';
import { status, statusLine } from '@call-webhooks/recovery';
import { DAY, HOUR, MINUTE, MONDAY } from './service-model.ts';

/** Monday at 14:00 UTC. */
const NOW = MONDAY + 14 * HOUR;

/** A store whose log was written before. */
async function storeWith(batch: Partial<OutcomeBatch>, now = NOW) {
  const store = memoryStore({ now: () => now });
  await store.log?.append({
    ...{ id: 'batch', rows: [], failures: [], counts: {}, marks: {} },
    process: { id: 'p', host: 'h', pid: 1, startedAt: NOW - DAY, at: now, inFlight: 0 },
    ...batch,
  });
  return store;
}

const ack = (eventName: string, tenant = '') => counterName('ack', tenant, eventName, 'secret-1');

describe('a status', () => {
  it('says that all events arrive, or since when it is quiet', async () => {
    const marks = {
      [ack('call:started')]: NOW - MINUTE,
      [ack('call:completed')]: NOW - HOUR,
      [ack('lead/created')]: NOW - 90 * MINUTE,
    };
    const busy = await status({ store: await storeWith({ marks }) });
    expect(statusLine(busy)).toBe('All 3 events arrive.');
    expect(busy.events.map(({ eventName, state }) => [eventName, state])).toEqual([
      ['call:completed', 'arrives'],
      ['call:started', 'arrives'],
      ['lead/created', 'arrives'],
    ]);
    const later = await status({ store: await storeWith({ marks }, NOW + DAY) });
    expect(statusLine(later)).toMatch(
      /^Quiet since \w+ \d\d:\d\d \S+\. It is too early to tell whether that is normal\.$/,
    );
    const one = { [ack('call:completed')]: NOW - HOUR };
    expect(statusLine(await status({ store: await storeWith({ marks: one }) }))).toBe(
      '`call:completed` arrives.',
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
      /^1 of 3 events arrive; `call:recording-available` has never arrived; `call:completed` of acme arrived last at \d\d:00 /,
    );
    const other = await status({ store: await storeWith({ marks }), expect: ['call:started'] });
    expect(statusLine(other)).toBe('`call:started` of acme arrives.');
  });

  it('knows nothing without deliveries, or without a log', async () => {
    const { log: _, ...blind } = memoryStore();
    const found = await status({ store: blind });
    expect(found).toMatchObject({ attention: [], events: [] });
    expect(statusLine(found)).toBe('Unknown: The store keeps no outcome log.');
    const fresh = await status({ store: memoryStore() });
    expect(fresh.unknown).toBeUndefined();
    expect(statusLine(fresh)).toBe('No delivery has arrived in the last 30 days.');
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
    expect(attention[0]?.text).toContain('50 tenants of which no delivery was ever verified');
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

  it('are counted exactly without tenants, also those whose rows are gone', async () => {
    const counts = { minutes: { [NOW / MINUTE - 30]: { [name]: 700 } } };
    const { attention } = await status({ store: await storeWith({ counts }) });
    expect(attention).toMatchObject([{ kind: 'failing', urgent: false, count: 700 }]);
    expect(attention[0]?.tenant).toBeUndefined();
  });
});

describe('what else is told', () => {
  it('is a note about events without a handler', async () => {
    const name = counterName('outcome', 'webhook', 'ignored', 'call:started');
    const counts = { minutes: { [NOW / MINUTE - 5]: { [name]: 7 } } };
    const { attention, notes } = await status({ store: await storeWith({ counts }) });
    expect(attention).toEqual([]);
    expect(notes).toEqual([
      '7 deliveries of `call:started` were acknowledged in the last 26 hours without a handler.',
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
      /^Deliveries fail \(`overloaded`\)\. 3 deliveries failed .* All of them have the error `overloaded`/,
    );
    const paused = [30, 16, 1].map(row);
    expect((await status({ store: await storeWith({ failures: paused }) })).attention).toEqual([]);
  });
});
