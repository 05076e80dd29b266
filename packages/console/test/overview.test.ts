import { systemClock } from '@call-webhooks/client';
import { describe, expect, it } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { durationBucket } from '@call-webhooks/core/stores';
import { generateSecret, memoryStore } from '@call-webhooks/core';
import type { Overview, Session, Times } from '../src/api-types.ts';
import { callBody, NOW, open, wrote } from './support.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const overview = async ({ get }: Pick<ReturnType<typeof open>, 'get'>) => {
  const { log } = await get<Overview>('/api/overview');
  if (!log) throw new Error('There is no log.');
  return log;
};

it('shows what a receiver did: each source and outcome, secrets and the process', async () => {
  const opened = open({ clock: systemClock });
  const { deliver, receiver, get } = opened;
  for (const call of ['c1', 'c1', 'c2']) await deliver(callBody(call));
  await receiver.deliver({ eventName: 'call:completed', callId: 'c3' }, { source: 'reconcile' });
  await waitFor(async () => (await overview(opened)).secrets[0]?.verified === 3);
  const { hour, day, processes, secrets } = await overview(opened);
  for (const period of [hour, day])
    expect(period.sources).toMatchObject({
      webhook: {
        total: 3,
        results: { handled: 2, duplicate: 1, failed: 0 },
        outcomes: { handled: 2, duplicate: 1 },
      },
      reconcile: { total: 1, outcomes: { handled: 1 } },
    });
  expect(Object.keys(hour.sources)).toEqual(['webhook', 'reconcile']);
  expect(hour.handlerMs).toMatchObject({ p50: expect.any(Number) });
  expect(processes).toMatchObject([{ pid: process.pid, state: 'active', inFlight: 0 }]);
  expect(secrets).toMatchObject([{ id: 'blue', isConfigured: true, verified: 3, lastHour: 3 }]);
  expect(await get('/api/overview')).toMatchObject({ health: { ok: true } });
});

describe('counts', () => {
  it('are of all processes, with each result apart', async () => {
    const opened = open();
    const { log } = opened;
    await wrote(log, [{ outcome: 'handled' }, { outcome: 'queued' }, { outcome: 'duplicate' }]);
    await wrote(
      log,
      [
        ...[{ outcome: 'dead-lettered' }, { outcome: 'in-dead-letters' }],
        ...[{ outcome: 'replayed' }, { outcome: 'signature-mismatch' }],
        ...[{ outcome: 'handler-failed' }, { outcome: 'invalid-payload' }, { outcome: 'ignored' }],
        { outcome: 'handled', source: 'queue' },
        { outcome: 'dead-lettered', source: 'redrive' },
        { outcome: 'of-a-newer-version' as 'handled' },
      ] as const,
      { id: 'p2', counts: { 'late/webhook/handled/': 2, rowsDropped: 7 } },
    );
    const { hour, rowsDropped } = await overview(opened);
    expect(hour.sources.webhook).toMatchObject({
      total: 11,
      results: {
        ...{ handled: 2, duplicate: 1, ignored: 1, failed: 3, rejected: 2 },
        ...{ 'dead-letter': 1, 'in-dead-letters': 1 },
      },
    });
    expect(hour.sources.queue?.results).toMatchObject({ handled: 1 });
    expect(hour.sources.redrive?.results).toMatchObject({ 'dead-letter': 1 });
    expect([hour.late, rowsDropped]).toEqual([2, 7]);
    expect(hour.points.at(-1)).toMatchObject({ at: NOW, handled: 2, duplicate: 1, failed: 3 });
    expect(hour.points).toHaveLength(60);
  });

  it('are of the hour and of 26 hours, and go on while the page is open', async () => {
    const opened = open();
    const { log, clock } = opened;
    const at = (minutes: number) => ({ outcome: 'handled' as const, at: NOW - minutes * MINUTE });
    await wrote(log, [at(59), at(60), at(25 * 60), at(-1)]);
    const totals = async () => {
      const { hour, day } = await overview(opened);
      return [hour.sources.webhook?.total, day.sources.webhook?.total];
    };
    expect(await totals()).toEqual([2, 4]);
    await wrote(log, [at(0)]);
    expect(await totals()).toEqual([3, 5]);
    // A process whose writes failed adds to minutes of long ago.
    await wrote(log, [at(30)]);
    clock.now += MINUTE;
    expect(await totals()).toEqual([3, 6]);
    expect((await overview(opened)).day.points).toHaveLength(156);
  });

  it('have percentiles of how long handlers took', async () => {
    const opened = open();
    const times = Object.fromEntries(
      [1, 10, 10, 10, 500].map((ms) => [
        `handlerMs/call:started/${durationBucket(ms)}`,
        ms === 10 ? 90 : 5,
      ]),
    );
    await wrote(opened.log, [{ outcome: 'handled' }], { times });
    const { hour } = await overview(opened);
    expect(hour.handlerMs?.p50).toBeGreaterThanOrEqual(10);
    expect(hour.handlerMs?.p50).toBeLessThan(12);
    expect(hour.handlerMs?.p95).toBeLessThan(12);
    expect(hour.lagMs).toBeNull();
  });

  it('have the percentiles of an hour and of 26 hours, as the counts beside them', async () => {
    const opened = open();
    const old = { outcome: 'handled', at: NOW - 25 * 60 * MINUTE } as const;
    const slow = { [`handlerMs/call:started/${durationBucket(9_000)}`]: 5 };
    await wrote(opened.log, [old], { times: slow });
    const { hour, day } = await overview(opened);
    expect([hour.sources.webhook, day.sources.webhook?.total]).toEqual([undefined, 1]);
    expect([hour.handlerMs, day.handlerMs]).toEqual([
      null,
      expect.objectContaining({ p50: expect.any(Number) }),
    ]);
  });
});

describe('secrets', () => {
  it('are all that are configured, and others that verified something', async () => {
    const opened = open();
    const old = { outcome: 'handled', secretId: 'old', at: NOW - 90 * MINUTE } as const;
    await wrote(opened.log, [old, old]);
    expect((await overview(opened)).secrets).toEqual([
      {
        ...{ id: 'blue', isConfigured: true, verified: 0, lastHour: 0, lastAt: null },
        ...{ state: 'unused', others: [], tenants: [] },
      },
      {
        ...{ id: 'old', isConfigured: false, verified: 2, lastHour: 0, lastAt: NOW - 90 * MINUTE },
        ...{ state: 'not-configured', others: [], tenants: [] },
      },
    ]);
  });

  it.each([
    [0, { verified: 1, lastHour: 1 }],
    [2, { verified: 1, lastHour: 1 }],
    [59, { verified: 1, lastHour: 1 }],
    [60, { verified: 1, lastHour: 1 }], // a part of its minute is within the hour
    [61, { verified: 1, lastHour: 0 }],
    [26 * 60 - 2, { verified: 1, lastHour: 0 }],
    [26 * 60 + 2, { verified: 0, lastHour: 0 }],
  ])(
    'with a delivery of %d min ago count it in the periods that it is in',
    async (ago, counted) => {
      const opened = open();
      const at = NOW - ago * MINUTE;
      await wrote(opened.log, [{ outcome: 'handled', secretId: 'blue', at }]);
      expect((await overview(opened)).secrets).toMatchObject([{ id: 'blue', ...counted }]);
    },
  );

  /** The state of each secret, and which others it is about. */
  const statesOf = async (opened: ReturnType<typeof open>) =>
    (await overview(opened)).secrets.map(({ id, state, others }) => [id, state, others]);

  it('keep their history through a rotation of one id with two secrets', async () => {
    const text = `${generateSecret()},${generateSecret()}`;
    const opened = open({ receiving: { secret: [{ id: 'calls', secret: text }] } });
    const { log, clock, receiver } = opened;
    const [fresh = '', old = ''] = (await receiver.health()).secretIds ?? [];
    const row = (secretId: string, minutesAgo: number) =>
      ({ outcome: 'handled', secretId, at: NOW - minutesAgo * MINUTE }) as const;
    const mark = (secretId: string, at: number) => ({ [`ack//call:completed/${secretId}`]: at });
    await wrote(log, [row('calls', 30)], { marks: mark('calls', NOW - 30 * MINUTE) });
    expect(await statesOf(opened)).toEqual([
      [fresh, 'new-id', ['calls']],
      [old, 'new-id', ['calls']],
      ['calls', 'renamed', [fresh, old]],
    ]);
    const at = NOW - 4 * MINUTE + 17_000;
    await wrote(log, [row(old, 4)], { marks: mark(old, at) });
    await wrote(log, [row(fresh, 1)], { marks: mark(fresh, NOW - MINUTE) });
    clock.now += 1;
    expect(await statesOf(opened)).toEqual([
      [fresh, 'in-use', []],
      [old, 'being-replaced', [fresh]],
      ['calls', 'renamed', [fresh, old]],
    ]);
    // To the second, as the delivery arrived.
    expect((await overview(opened)).secrets[1]?.lastAt).toBe(at);
    clock.now = at + 10 * MINUTE - 1;
    expect((await statesOf(opened))[1]).toEqual([old, 'being-replaced', [fresh]]);
    clock.now = at + 10 * MINUTE;
    expect(await statesOf(opened)).toEqual([
      [fresh, 'in-use', []],
      [old, 'replaced', [fresh]],
      ['calls', 'renamed', [fresh, old]],
    ]);
  });

  it('are listed under the plain id again once the old secret is removed', async () => {
    const opened = open({ receiving: { secret: [{ id: 'calls', secret: generateSecret() }] } });
    await wrote(opened.log, [{ outcome: 'handled', secretId: 'calls-0a1b2c3d' }]);
    expect(await statesOf(opened)).toEqual([
      ['calls', 'new-id', ['calls-0a1b2c3d']],
      ['calls-0a1b2c3d', 'renamed', ['calls']],
    ]);
  });

  it('of two actions with the same event are in use if each verified an event last', async () => {
    const opened = open({
      receiving: {
        secret: [
          { id: 'one', secret: generateSecret() },
          { id: 'two', secret: generateSecret() },
        ],
      },
    });
    const marks = {
      'ack//call:completed/one': NOW - 2_000,
      'ack//call:started/one': NOW - 1_000,
      'ack//call:completed/two': NOW - 1_000,
    };
    await wrote(opened.log, [{ outcome: 'handled', secretId: 'one' }], { marks });
    expect(await statesOf(opened)).toEqual([
      ['one', 'in-use', []],
      ['two', 'in-use', []],
    ]);
  });

  it('of two tenants are both in use if each verified the last delivery of its own', async () => {
    const secret = ['one', 'two'].map((id) => ({ id, secret: generateSecret() }));
    const opened = open({ receiving: { secret } });
    const marks = {
      'ack/acme/call:completed/one': NOW - 20 * MINUTE,
      'ack/globex/call:completed/two': NOW - 1_000,
    };
    await wrote(opened.log, [], { marks });
    expect(await statesOf(opened)).toEqual([
      ['one', 'in-use', []],
      ['two', 'in-use', []],
    ]);
  });

  it('are replaced by what verified the last delivery of their events, also if its handler failed', async () => {
    const secret = ['new', 'old', 'other'].map((id) => ({ id, secret: generateSecret() }));
    const opened = open({ receiving: { secret } });
    const marks = {
      'ack/acme/call:completed/old': NOW - 30 * MINUTE,
      'failed/acme/call:completed/old': NOW - 20 * MINUTE,
      'failed/acme/call:completed/new': NOW - 15 * MINUTE,
      // Of another event, and of another tenant.
      'ack/acme/call:started/other': NOW - 50 * MINUTE,
      'ack/globex/call:completed/other': NOW - 40 * MINUTE,
    };
    await wrote(opened.log, [], { marks });
    expect((await overview(opened)).secrets).toEqual(
      [
        { id: 'new', state: 'in-use', others: [], tenants: ['acme'], minutes: 15 },
        { id: 'old', state: 'replaced', others: ['new'], tenants: ['acme'], minutes: 20 },
        { id: 'other', state: 'in-use', others: [], tenants: ['acme', 'globex'], minutes: 40 },
      ].map(({ minutes, ...one }) => ({
        ...{ ...one, isConfigured: true, verified: 0, lastHour: 0 },
        lastAt: NOW - minutes * MINUTE,
      })),
    );
  });

  it('are in use for an hour after the last delivery, and quiet from then on', async () => {
    const opened = open();
    const at = NOW - 30_500; // within a minute: the hour counts from the delivery itself
    await wrote(opened.log, [], { marks: { 'ack//call:completed/blue': at } });
    const states: Record<number, unknown> = {};
    for (const after of [HOUR - 1, HOUR]) {
      opened.clock.now = at + after;
      [[, states[after]]] = (await statesOf(opened)) as [[unknown, unknown]];
    }
    expect(states).toEqual({ [HOUR - 1]: 'in-use', [HOUR]: 'quiet' });
  });

  it('of tenants are those that verified something', async () => {
    const opened = open({ receiving: { tenant: () => 'acme', secret: () => undefined } });
    await wrote(opened.log, [{ outcome: 'handled', secretId: 'acme-1' }]);
    expect((await overview(opened)).secrets).toMatchObject([{ id: 'acme-1', isConfigured: null }]);
  });
});

describe('times', () => {
  it('of delivery, handler and store stand side by side, by event and by ten minutes', async () => {
    const { get, log, clock } = open();
    clock.now = NOW + 660_000;
    const [fast, slow] = [durationBucket(10), durationBucket(5_000)];
    const times = (handler: number, event = 'call:completed') => ({
      [`deliveryMs/${event}/${handler}`]: 10,
      [`handlerMs/${event}/${handler}`]: 10,
      [`storeMs/${fast}`]: 10,
    });
    await wrote(log, [{ outcome: 'handled', at: NOW }], { times: times(fast) });
    const version = { id: 'p2', version: '2.0', startedAt: NOW + 600_000 };
    await wrote(log, [{ outcome: 'handled', at: NOW + 600_000 }], {
      ...{ ...version, at: NOW + 600_000, times: times(slow) },
    });
    await wrote(log, [{ outcome: 'handled', at: NOW + 600_001 }], {
      ...{ ...version, at: NOW + 600_001, times: times(fast, 'call:started') },
    });
    const whole = await get<Times>('/api/times');
    expect(whole.points.slice(-2)).toMatchObject([
      { at: NOW, handler: expect.closeTo(11, 0), store: expect.closeTo(11, 0) },
      { at: NOW + 600_000, store: expect.closeTo(11, 0) },
    ]);
    expect(whole.points.at(-1)?.handler).toBeGreaterThan(4_900);
    expect(whole.events.map(({ eventName, runs }) => [eventName, runs])).toEqual([
      ['call:completed', 20],
      ['call:started', 10],
    ]);
    const started = await get<Times>('/api/times?event=call:started&range=day');
    expect(started.points).toHaveLength(156);
    expect(started.handler?.p95).toBeLessThan(12);
    const { log: logged } = await get<Overview>('/api/overview');
    expect(logged?.versions).toEqual([{ version: '2.0', since: NOW + 600_000, processes: 1 }]);
  });
});

describe('processes', () => {
  it('are active, quiet, closed or lost, the one that wrote last first', async () => {
    const opened = open();
    const handled = [{ outcome: 'handled' as const }];
    const wroteAgo = (id: string, minutes: number, more: object = {}) =>
      wrote(opened.log, handled, { id, at: NOW - minutes * MINUTE, ...more });
    await wroteAgo('active', 0, { inFlight: 2 });
    await wroteAgo('quiet', 4, { inFlight: 1 });
    await wroteAgo('lost', 6, { inFlight: 1 });
    await wroteAgo('idle', 60);
    await wroteAgo('closed', 5, { closed: true, inFlight: 4 });
    const { processes } = await overview(opened);
    expect(processes.map(({ id, state, inFlight }) => [id, state, inFlight])).toEqual([
      ['active', 'active', 2],
      ['quiet', 'quiet', 1],
      ['closed', 'closed', 0],
      ['lost', 'lost', 0],
      ['idle', 'quiet', 0],
    ]);
    expect(processes[0]).not.toHaveProperty('clockAheadMs');
  });

  it('whose clock is off by more than 5 s are told as such', async () => {
    const store = memoryStore({ now: () => NOW });
    const { log } = store;
    if (!log) throw new Error('There is no log.');
    const seen = async () => {
      const known = await log.processes();
      return known.map((one) => ({
        ...one,
        seenAt: one.at - (one.id === 'ahead' ? 6_000 : 4_000),
      }));
    };
    const opened = open({ receiving: { store: { ...store, log: { ...log, processes: seen } } } });
    await wrote(log, [{ outcome: 'handled' }], { id: 'ahead' });
    await wrote(log, [{ outcome: 'handled' }], { id: 'right' });
    const { processes } = await overview(opened);
    expect(processes.map(({ id, clockAheadMs }) => [id, clockAheadMs])).toEqual([
      ['right', undefined],
      ['ahead', 6_000],
    ]);
  });
});

describe('a store', () => {
  it('without a log is told as such', async () => {
    const { log: _log, ...store } = memoryStore();
    const { get, ask } = open({ receiving: { store } });
    expect(await get<Session>('/api/session')).toMatchObject({ log: false });
    expect(await get('/api/overview')).toMatchObject({ log: null, health: { ok: true } });
    const response = await ask('/api/deliveries');
    expect([response.status, await response.text()]).toEqual([
      422,
      expect.stringContaining('keeps no outcome log'),
    ]);
  });

  it('that does not respond keeps nobody from seeing why', async () => {
    const store = memoryStore();
    const counts = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1'));
    const log = store.log && { ...store.log, counts, read: counts };
    const ping = () => Promise.reject(new Error('connect ECONNREFUSED'));
    const { get, ask, logger } = open({ receiving: { store: { ...store, log, ping } } });
    expect(await get('/api/overview')).toMatchObject({
      log: null,
      health: { ok: false, store: { status: 'down' } },
    });
    const response = await ask('/api/deliveries');
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain('10.0.0.1');
    expect(logger.lines.join()).toContain('ECONNREFUSED');
  });
});
