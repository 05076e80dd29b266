import { describe, expect, it } from '@jest/globals';
import { createClient, systemClock } from '@call-webhooks/client';
import { memoryStore } from '@call-webhooks/core';
import { startSimulator } from '@call-webhooks/simulator';
import type { ReconcileTask, Tasks } from '../src/api-types.ts';
import { closeLater, open, storeWithClock, wrote } from './support.ts';

const MINUTE = 60_000;
const STARTED_AT = Date.UTC(2026, 0, 31, 12);
/** When the store has begun to remember. */
const KNOWN = STARTED_AT + 10 * MINUTE;

/** A service with two calls that no webhook came for, and a console that can ask it. */
async function withMissedCalls({ apiToken }: { apiToken?: string } = {}) {
  const simulator = await startSimulator({
    ...{ clock: 'manual', seed: 1, startAt: STARTED_AT, timestamps: 'clock' },
  });
  closeLater(() => simulator.close());
  const now = () => simulator.clock.now();
  const client = createClient({ baseUrl: simulator.url, apiToken: apiToken ?? simulator.apiToken });
  const store = storeWithClock(now);
  const handled: string[] = [];
  const on = {
    'call:completed': ({ callId }: { callId?: unknown }) => {
      if (callId === 'broken') throw new Error('no');
      handled.push(String(callId));
    },
  };
  await simulator.clock.advance('10m');
  const opened = open({
    ...{ reconcile: { client }, clock: { ...systemClock, now } },
    receiving: { on, store, now, log: false, maxAttempts: 1 },
  });
  const calls: string[] = [];
  for (let made = 0; made < 2; made += 1) {
    calls.push(simulator.calls.place({ durationSeconds: 20 })._id);
    await simulator.clock.advance('1m');
  }
  await simulator.clock.advance('30m');
  const run = async (body: object) => {
    const sent = { since: KNOWN, waitMs: 20_000, ...body };
    return (await opened.post<Tasks>('/api/reconcile', sent)).reconcile as ReconcileTask;
  };
  return { ...opened, simulator, now, client, calls, handled, run };
}

describe('api/reconcile', () => {
  it('first says exactly what was missed, then runs that alone, and knows it the next time', async () => {
    const { run, calls, handled, logger, get, receiver } = await withMissedCalls();
    const [known = '', missed = ''] = calls;
    await receiver.deliver({ eventName: 'call:completed', callId: known }, { source: 'reconcile' });
    handled.length = 0;
    const dry = await run({ dryRun: true });
    expect(dry).toMatchObject({
      ...{ by: 'Ada', dryRun: true, state: 'done', since: KNOWN },
      counts: { seen: 2, missed: 1, known: 1, handled: 0, ignored: 0 },
    });
    const of = { eventName: 'call:completed', at: expect.any(Number) };
    expect(dry.events).toContainEqual({
      ...{ ...of, callId: missed, missed: true, reason: 'unknown' },
    });
    expect(dry.events).toContainEqual({ ...of, callId: known, missed: false, state: 'handled' });
    expect(handled).toEqual([]);

    const other = await run({ dryRun: false, until: KNOWN + 1 });
    expect([other.reasons, dry.reasons.length]).toEqual([[], 1]);

    await run({ dryRun: true });
    const real = await run({ dryRun: false });
    expect(real).toMatchObject({ state: 'done', counts: { missed: 1, handled: 1, known: 1 } });
    expect(real.reasons).toEqual(dry.reasons);
    expect(real.events).toContainEqual({
      ...{ ...of, callId: missed, outcome: 'handled', missed: true },
    });
    expect(handled).toEqual([missed]);

    const again = await run({ dryRun: false });
    expect(again).toMatchObject({ counts: { missed: 0, known: 2 }, reasons: [] });
    expect((await get<Tasks>('/api/tasks')).reconcile).toEqual(again);
    expect(logger.entries.find(({ fields }) => fields['action'] === 'reconcile')).toMatchObject({
      fields: { by: 'Ada', dryRun: true },
    });
  });

  it('tells what is in the dead letters or was given up apart from what was missed', async () => {
    const { run, calls, store, receiver } = await withMissedCalls();
    const [first = ''] = calls;
    const key = `${first}:call:completed`;
    await store.admit({ webhookId: 'w', replayUntil: 0, key, leaseMs: 1_000, token: 't' });
    await store.complete(key, 't', 'dead-lettered');
    expect(await run({ dryRun: true })).toMatchObject({
      counts: { missed: 1, inDeadLetters: 1, known: 0 },
      events: expect.arrayContaining([
        expect.objectContaining({ callId: first, missed: false, state: 'dead-lettered' }),
      ]),
    });
    expect((await receiver.health()).ok).toBe(true);
  });

  it('says why a run failed, with the fix for a token that the service refuses', async () => {
    const { run, simulator } = await withMissedCalls({ apiToken: 'an-old-token' });
    const refused = await run({ dryRun: true });
    expect(refused).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(/status 401.*\. Check the apiToken of the client/),
    });
    expect(refused.error).not.toContain('an-old-token');
    await simulator.close();
    expect(await run({ dryRun: false })).toMatchObject({ state: 'failed' });
  });

  it('of a store that cannot tell what it knows makes no dry run', async () => {
    const { client, now } = await withMissedCalls();
    const { peek: _peek, ...store } = memoryStore();
    const { post } = open({
      ...{ reconcile: { client }, clock: { ...systemClock, now } },
      receiving: { store },
    });
    const body = { dryRun: true, since: now() - 1, until: now(), waitMs: 20_000 };
    expect(await post('/api/reconcile', body)).toMatchObject({
      error: { code: 'invalid-request', message: expect.stringContaining('peek()') },
    });
  });

  it('looks events up in the store that it is given, and looks as far back as that one knows', async () => {
    const { client, now, calls, store } = await withMissedCalls();
    const young = { ...memoryStore(), rememberFor: 1_000 };
    const old = { ...store, rememberFor: 24 * 60 * MINUTE };
    const run = async (given: object | undefined) => {
      const { post } = open({
        ...{ reconcile: { client, ...(given && { store: given }) } },
        ...{ clock: { ...systemClock, now }, receiving: { store: young, now } },
      });
      const body = { dryRun: true, since: STARTED_AT, waitMs: 20_000 };
      return post<Tasks & { error?: { message: string } }>('/api/reconcile', body);
    };
    expect((await run(undefined)).error?.message).toContain('There is nothing to check');
    const { reconcile } = await run(old);
    expect(reconcile).toMatchObject({ since: STARTED_AT, counts: { missed: calls.length } });
    expect(reconcile).not.toHaveProperty('askedSince');
  });

  it.each([true, false])(
    'begins with what the store knows, and says so (dryRun: %s)',
    async (dryRun) => {
      const { run } = await withMissedCalls();
      const asked = STARTED_AT - 60 * MINUTE;
      expect(await run({ dryRun, since: asked })).toMatchObject({
        ...{ state: 'done', counts: { seen: 2 } },
        ...{ since: STARTED_AT, askedSince: asked }, // the store's start
      });
      const whole = await run({ dryRun });
      expect(whole).toMatchObject({ state: 'done', since: KNOWN });
      expect(whole).not.toHaveProperty('askedSince');
    },
  );

  it('of a receiver with tenants looks for nothing without one, and says of which it is', async () => {
    const { client, now } = await withMissedCalls();
    const receiving = {
      ...{ tenant: () => 'acme', secret: () => undefined, now },
      store: { ...memoryStore(), rememberFor: 24 * 60 * MINUTE },
    };
    const shared = { clock: { ...systemClock, now }, receiving };
    const body = { dryRun: true, since: STARTED_AT, waitMs: 20_000 };
    const refused = await open({ ...shared, reconcile: { client } }).send('/api/reconcile', body);
    expect([refused.status, await refused.text()]).toEqual([
      422,
      expect.stringContaining('Pass reconcile: { client, tenant } to createConsole.'),
    ]);
    const reconcile = { client, tenant: 'acme' };
    const { post } = open({ ...shared, reconcile });
    expect((await post<Tasks>('/api/reconcile', body)).reconcile).toMatchObject({ tenant: 'acme' });
  });

  it('has nothing to look at while the store is younger than what is left alone', async () => {
    const { simulator, now, client } = await withMissedCalls();
    const receiving = { store: memoryStore({ now }), now };
    const { send, get } = open({
      reconcile: { client },
      clock: { ...systemClock, now },
      receiving,
    });
    await simulator.clock.advance('4m');
    const response = await send('/api/reconcile', { dryRun: true, since: STARTED_AT });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(
      'the window ended 10 min ago, and the store remembers nothing from before 4 min ago. Try again later.',
    );
    expect(await get('/api/tasks')).toMatchObject({ reconcile: null });
    await simulator.clock.advance('7m');
    const later = await send('/api/reconcile', { dryRun: true, since: STARTED_AT, waitMs: 20_000 });
    expect(await later.json()).toMatchObject({ reconcile: { state: 'done' } });
  });

  it.each([
    { since: 0 },
    { dryRun: 'yes', since: 0 },
    { dryRun: true },
    { dryRun: true, since: -1 },
    { dryRun: true, since: 0, until: 9e15 },
    { dryRun: true, since: 0, waitMs: -1 },
  ])('refuses %j', async (body) => {
    const { send } = await withMissedCalls();
    expect((await send('/api/reconcile', body)).status).toBe(400);
  });
});

describe('why events were missed', () => {
  type Came = Parameters<typeof wrote>[1][number];
  /** @param deliveries that came, by minutes since the store has begun to remember: the calls ended in 0 and 1 */
  const reasons = async (deliveries: Record<number, Came['outcome'] | Came>) => {
    const { run, log } = await withMissedCalls();
    const came = Object.entries(deliveries).sort(([one], [other]) => Number(one) - Number(other));
    for (const [minute, given] of came) {
      const at = KNOWN + Number(minute) * MINUTE;
      const row = typeof given === 'string' ? { outcome: given } : given;
      const { outcome, eventName, tenant = '' } = row;
      const arrivals = outcome === 'handled' && eventName ? { [`${eventName}/${tenant}`]: 1 } : {};
      await wrote(log, [{ ...row, at }], { startedAt: STARTED_AT, at, arrivals });
    }
    return (await run({ dryRun: true })).reasons;
  };
  /** A delivery of the event that is missed. */
  const OWN = { outcome: 'handled', eventName: 'call:completed' } as const;
  const OTHER = { outcome: 'handled', eventName: 'call:started' } as const;
  const SILENCE = { kind: 'silence', missed: 2, outcomes: [], from: KNOWN - 5 * MINUTE };

  it('a silence while a process ran all the time: the rule was paused, after failures', async () => {
    expect(
      await reasons({ '-9': 'handler-failed', '-5': 'handler-failed', 12: 'handled' }),
    ).toMatchObject([
      { ...SILENCE, until: KNOWN + 12 * MINUTE, failedBefore: 2, wasRunning: true },
    ]);
  });

  it('a silence: what was acknowledged later paused no rule', async () => {
    const [dead, done, open] = ['dead', 'done', 'open'].map((key) => ({ key }));
    expect(
      await reasons({
        '-9': { outcome: 'handler-failed', ...dead },
        '-8': { outcome: 'deadline', ...done },
        '-7': { outcome: 'handler-failed', ...open },
        '-6': { outcome: 'dead-lettered', ...dead },
        '-5': { outcome: 'handled', ...done },
        12: 'handled',
      }),
    ).toMatchObject([{ ...SILENCE, failedBefore: 1 }]);
  });

  it('a silence in which no process ran all the time: an outage', async () => {
    const { run, log } = await withMissedCalls();
    const at = (minute: number) => KNOWN + minute * MINUTE;
    await wrote(log, [{ outcome: 'handled', at: at(-5) }], { id: 'a', at: at(-5) });
    await wrote(log, [{ outcome: 'handled', at: at(20) }], {
      ...{ id: 'b', startedAt: at(19), at: at(20) },
    });
    expect((await run({ dryRun: true })).reasons).toMatchObject([
      { ...SILENCE, until: at(20), failedBefore: 0, wasRunning: false },
    ]);
  });

  it('a silence that goes on', async () => {
    expect(await reasons({ '-5': 'handled' })).toMatchObject([
      { ...SILENCE, until: null, failedBefore: 0, wasRunning: null },
    ]);
  });

  it('deliveries that nobody could verify', async () => {
    expect(await reasons({ '-5': OWN, 0: 'signature-mismatch', 1: OWN, 4: OWN })).toMatchObject([
      { kind: 'rejected', missed: 1, outcomes: ['signature-mismatch'] },
      { kind: 'single', missed: 1, outcomes: [] },
    ]);
  });

  it('not a replay or a failed handler: those are of other events', async () => {
    expect(await reasons({ '-5': OWN, 0: 'replayed', 1: 'handler-failed', 2: OWN })).toMatchObject([
      { kind: 'single', missed: 2, outcomes: [] },
    ]);
  });

  it('deliveries that failed, and others that were handled', async () => {
    expect(await reasons({ '-5': 'handled', 1: 'store-unavailable' })).toMatchObject([
      { kind: 'failed', missed: 2, outcomes: ['store-unavailable'] },
    ]);
    expect(await reasons({ '-5': OWN, 0: OWN, 1: OWN, 4: OWN })).toMatchObject([
      { kind: 'single', missed: 2 },
    ]);
  });

  it('a silence of this event alone: others came, which say nothing about its rule', async () => {
    const others = { 0: OTHER, 1: OTHER, 2: OTHER, 3: OTHER };
    expect(await reasons({ '-25': OWN, ...others, 25: OWN })).toMatchObject([
      {
        ...SILENCE,
        ...{ kind: 'event-silence', eventName: 'call:completed' },
        ...{ from: KNOWN - 25 * MINUTE, until: KNOWN + 25 * MINUTE },
        ...{ failedBefore: 0, wasRunning: null },
        text: `Other events arrived, but no \`call:completed\` from <${String(KNOWN - 25 * MINUTE)}> to <${String(KNOWN + 25 * MINUTE)}>. Its rule may have been paused, changed or removed, or these deliveries were lost in transit. Check the rule in the service, under Rules.`,
      },
    ]);
    expect(await reasons(others)).toMatchObject([
      { kind: 'event-silence', from: null, until: null },
    ]);
    const failed = { outcome: 'handler-failed', eventName: 'call:completed' } as const;
    expect(await reasons({ '-25': OWN, '-12': failed, '-11': OTHER, ...others })).toMatchObject([
      { kind: 'event-silence', failedBefore: 1 },
    ]);
  });

  it('one silence of this event, even if nothing at all came for minutes of it', async () => {
    expect(await reasons({ '-25': OWN, '-12': OTHER, 4: OTHER, 8: OTHER, 25: OWN })).toMatchObject([
      {
        ...{ kind: 'event-silence', eventName: 'call:completed', missed: 2 },
        ...{ from: KNOWN - 25 * MINUTE, until: KNOWN + 25 * MINUTE },
      },
    ]);
  });

  it('a silence that began in the ten minutes of an arrival, and not a single loss', async () => {
    expect(await reasons({ '-1': OWN, 1: OWN, 5: OTHER, 8: OTHER, 25: OWN })).toMatchObject([
      { kind: 'single', missed: 1 },
      { kind: 'event-silence', missed: 1, from: KNOWN + MINUTE, until: KNOWN + 25 * MINUTE },
    ]);
  });

  it('a silence that began in the minute of an arrival', async () => {
    expect(await reasons({ '-5': OWN, 1: OWN })).toMatchObject([
      { kind: 'single', missed: 1 },
      { kind: 'silence', missed: 1, from: KNOWN + MINUTE, until: null },
    ]);
  });

  it('a silence that began with a failure', async () => {
    const failed = { outcome: 'handler-failed', eventName: 'call:completed' } as const;
    const [reason] = await reasons({ '-25': OWN, '-12': failed, 1: OTHER, 5: OTHER, 25: OWN });
    const [from, until] = [KNOWN - 12 * MINUTE, KNOWN + 25 * MINUTE];
    expect(reason).toMatchObject({
      kind: 'event-silence',
      missed: 2,
      failedBefore: 1,
      from,
      until,
    });
    expect(reason?.text).toContain(
      'Before that, 1 delivery failed and was not acknowledged later.',
    );
  });

  it('a silence of which the log no longer has the single deliveries: its times are told as about', async () => {
    const { run, log } = await withMissedCalls();
    for (const [minute, name] of [
      [-25, 'call:completed'],
      [5, 'call:started'],
      [25, 'call:completed'],
    ] as const)
      await wrote(log, [{ outcome: 'overloaded', at: KNOWN + minute * MINUTE }], {
        ...{ startedAt: STARTED_AT, at: KNOWN + minute * MINUTE, arrivals: { [`${name}/`]: 1 } },
      });
    const [from, until] = [KNOWN - 20 * MINUTE, KNOWN + 20 * MINUTE];
    const { reasons } = await run({ dryRun: true });
    expect(reasons).toMatchObject([
      { kind: 'event-silence', missed: 2, isAbout: true, from, until },
    ]);
    expect(reasons[0]?.text).toContain(`from about <${String(from)}> to about <${String(until)}>.`);
  });

  it('a silence of one of two tenants', async () => {
    const { client, now } = await withMissedCalls();
    const store = { ...storeWithClock(now), rememberFor: 24 * 60 * MINUTE };
    const { post, log } = open({
      ...{ clock: { ...systemClock, now }, reconcile: { client, tenant: 'acme' } },
      receiving: { tenant: () => 'acme', secret: () => undefined, now, store },
    });
    for (const minute of [-25, 0, 1, 2])
      await wrote(log, [{ ...OWN, tenant: 'globex', at: KNOWN + minute * MINUTE }], {
        ...{ startedAt: STARTED_AT, at: KNOWN + minute * MINUTE },
        arrivals: { 'call:completed/globex': 1 },
      });
    await wrote(log, [{ ...OWN, tenant: 'acme', at: KNOWN - 25 * MINUTE }], {
      ...{ at: KNOWN - 25 * MINUTE, arrivals: { 'call:completed/acme': 1 } },
    });
    const body = { dryRun: true, since: KNOWN, waitMs: 20_000 };
    const { reconcile } = await post<Tasks>('/api/reconcile', body);
    expect(reconcile?.reasons).toMatchObject([{ kind: 'event-silence', missed: 2 }]);
    expect(reconcile?.events.filter(({ missed }) => missed)).toMatchObject([
      { reason: 'event-silence' },
      { reason: 'event-silence' },
    ]);
  });

  it('unknown, where the log begins later', async () => {
    const { run, log } = await withMissedCalls();
    const at = KNOWN + 20 * MINUTE;
    await wrote(log, [{ outcome: 'handled', at }], { startedAt: at, at });
    expect((await run({ dryRun: true })).reasons).toMatchObject([{ kind: 'unknown', missed: 2 }]);
  });
});
