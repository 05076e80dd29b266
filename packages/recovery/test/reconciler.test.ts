import { describe, expect, it, jest } from '@jest/globals';
import { createClient, systemClock } from '@call-webhooks/client';
import { collectingLogger, deferred, serveLocally, waitFor } from '@call-webhooks/contract-tests';
import { createReceiver, memoryStore } from '@call-webhooks/core';
import { nodeHandler } from '@call-webhooks/core/node';
import { reconcile, startReconciler } from '@call-webhooks/recovery';
import { startSimulator } from '@call-webhooks/simulator';
import { resolveOptions } from '../src/reconciler-options.ts';
import { start } from './reconciler/start.ts';
import { manualClock } from './support/manual-clock.ts';
import { closeLater, HOUR, MINUTE, STARTED_AT, startWorld } from './support/world.ts';

describe('silence', () => {
  it('is noticed within an interval: a hook, a log line that says where to look, the events', async () => {
    const world = await startWorld();
    const { simulator, ruleId, runs, log } = world;
    const { clock, reports, results } = await start(world);
    await world.place(2);
    await clock.advance(30);
    expect([reports, log.lines]).toEqual([[], []]);

    simulator.rules.pause(ruleId);
    const call = simulator.calls.place({ durationSeconds: 20 });
    const placedAt = clock.now();
    while (reports.length === 0) await clock.advance(1);
    // 10 minutes in which the webhook might have come, and at most 15 until the next run.
    expect(clock.now() - placedAt).toBeLessThanOrEqual((10 + 15 + 1) * MINUTE);
    expect(reports).toEqual([
      {
        ...{ missed: 1, callIds: [call._id], result: results.at(-1) },
        ...{ since: expect.any(Date), until: expect.any(Date) },
      },
    ]);
    expect(runs.at(-1)).toEqual({ callId: call._id, source: 'reconcile' });
    const [line, ...others] = log.entries;
    expect(others).toEqual([]);
    expect(line).toMatchObject({ level: 'error', fields: { missed: 1, handled: 1 } });
    expect(line?.message).toContain('A rule may be paused');
    expect(line?.fields['docs']).toMatch(/^https:.*\/recovery\.html#when-events-go-missing$/);

    await clock.advance(60);
    expect([reports.length, runs.length]).toEqual([1, 3]);
  });

  it('is not what a failing handler is taken for: its deliveries come', async () => {
    const world = await startWorld({ simulator: { maxAttempts: 20 } });
    const { clock, reports, results } = await start(world);
    const [id = ''] = await world.place(1);
    world.failing.add(id);
    const failing = await world.place(1);
    world.failing.add(failing[0] ?? '');
    await clock.advance(40);
    expect(results.some(({ known }) => known > 0)).toBe(true);
    expect(reports).toEqual([]);
  });

  it('has a line of its own for events that fail now', async () => {
    const world = await startWorld();
    const { simulator, ruleId, failing, log } = world;
    const { clock, reports, results } = await start(world);
    simulator.rules.pause(ruleId);
    const [one = ''] = await world.place(2);
    failing.add(one);
    await clock.advance(30);
    expect(reports.map(({ missed }) => missed)).toEqual([2]);
    expect(log.entries.find(({ level }) => level === 'warn')).toMatchObject({
      fields: { failed: 1 },
    });
    failing.clear();
    await clock.advance(15);
    expect(results.at(-1)).toMatchObject({ missed: 0, handled: 1, known: 1 });
    expect(reports).toHaveLength(1);
  });
});

describe('what a run looks at', () => {
  it('is nothing from before the very first run, unless it is told to', async () => {
    const world = await startWorld();
    world.simulator.rules.pause(world.ruleId);
    const since = new Date(world.now());
    await world.place(3);
    const first = await start(world);
    await first.clock.advance(60);
    expect(world.runs).toEqual([]);
    await first.reconciler.close();

    const second = await start(world, { name: 'other', since });
    await second.clock.advance(1);
    expect(world.runs).toHaveLength(3);
  });

  it('is everything since it ran last, however long it was down, and what failed then', async () => {
    const world = await startWorld();
    const { simulator, ruleId, runs, failing } = world;
    const { clock, reconciler, begin, reports } = await start(world, { lookBack: 60 * MINUTE });
    simulator.rules.pause(ruleId);
    const [failed = ''] = await world.place(1);
    failing.add(failed);
    await clock.advance(30);
    expect(runs).toHaveLength(2);
    await reconciler.close();

    for (let hour = 0; hour < 8; hour++) {
      await world.place(1);
      await simulator.clock.advance('1h');
    }
    failing.clear();
    begin();
    await clock.settled();
    expect(runs).toHaveLength(2 + 1 + 8);
    expect(runs.slice(2).map(({ callId }) => callId)).toContain(failed);
    expect(reports.at(-1)).toMatchObject({ missed: 8 });
  });

  it.each([
    ['from its first run on', true],
    ['in a later run', false],
  ])('is not nothing because the clock of a process was ahead %s', async (_when, isFirst) => {
    const world = await startWorld();
    const { simulator, ruleId, runs, log } = world;
    if (!isFirst) await (await start(world)).reconciler.close();
    const before = await world.place(1);
    await simulator.clock.advance('20m');
    const ahead = await start(world, {}, 72 * HOUR);
    await ahead.reconciler.close();
    expect(log.entries).toEqual([]);

    simulator.rules.pause(ruleId);
    const { clock, results, reports } = await start(world);
    const missed = await world.place(1);
    await clock.advance(30);
    expect(runs.map(({ callId }) => callId)).toEqual([...before, ...missed]);
    expect(reports.map(({ callIds }) => callIds)).toEqual([missed]);
    expect(results.at(-1)?.seen).toBe(isFirst ? 1 : 2);
    const warnings = log.entries.filter(({ level }) => level === 'warn');
    expect(warnings).toMatchObject([{ fields: { since: expect.any(Date) } }]);
    expect(warnings[0]?.message).toContain('a time in the future');
  });

  it('is no more than the store remembers', async () => {
    const world = await startWorld();
    const { simulator, ruleId, runs, now } = world;
    const store = memoryStore({ now, rememberFor: 60 * MINUTE });
    const { clock, reconciler, begin, errors } = await start(world, { store });
    await reconciler.close();
    simulator.rules.pause(ruleId);
    await world.place(1);
    await simulator.clock.advance('3h');
    const late = await world.place(1);
    await simulator.clock.advance('15m');
    begin();
    await clock.settled();
    expect(runs.map(({ callId }) => callId)).toEqual(late);
    expect(errors).toEqual([]);
  });
});

describe('several processes', () => {
  it('run it once in an interval, and another one goes on when one dies', async () => {
    const world = await startWorld();
    const { simulator, ruleId, requests, runs } = world;
    const { clock, begin, results } = await start(world);
    begin();
    begin();
    clock.reconcilers = 3;
    await clock.settled();
    await clock.advance(20);
    requests.length = 0;
    await clock.advance(60);
    expect(results.length).toBeGreaterThanOrEqual(4);
    expect(requests).toHaveLength(4);

    // One that is frozen while it has the lease never frees it.
    const token = 'of a process that died';
    const key = 'call-webhooks.reconciler.reconcile';
    const claim = { webhookId: token, token, key, replayUntil: clock.now(), leaseMs: MINUTE };
    expect(await world.receiver.store.admit(claim)).toMatchObject({ status: 'admitted' });
    simulator.rules.pause(ruleId);
    await world.place(1);
    await clock.advance(30);
    expect(runs).toHaveLength(1);
  });

  it('go on within a minute after the lease of one that died has run out', async () => {
    const world = await startWorld();
    const { clock, results } = await start(world);
    const next = async () => {
      const { length } = results;
      let minutes = 0;
      for (; results.length === length; minutes++) await clock.advance(1);
      return minutes;
    };
    await next();
    await clock.advance(14);
    const key = 'call-webhooks.reconciler.reconcile';
    const died = { webhookId: 'died', token: 'died', key, replayUntil: clock.now() };
    await world.receiver.store.admit({ ...died, leaseMs: 3 * MINUTE });
    expect(await next()).toBeLessThanOrEqual(3 + 1);
  });

  it('stop a run whose lease was lost', async () => {
    const world = await startWorld();
    const { simulator, ruleId, runs } = world;
    simulator.rules.pause(ruleId);
    const { clock, errors } = await start(world, { store: world.receiver.store });
    await world.place(2);
    const { store } = world.receiver;
    jest.spyOn(store, 'extend').mockResolvedValue(false);
    const listing = deferred();
    const { list } = world.client.calls;
    const asked = jest.spyOn(world.client.calls, 'list').mockImplementation(async (options) => {
      await listing.promise;
      return list(options);
    });
    const advanced = clock.advance(15);
    await waitFor(() => asked.mock.calls.length > 0);
    await clock.fire(1);
    listing.resolve();
    await advanced;
    expect(errors).toEqual([new Error('Another process has taken the lease.')]);
    expect(runs).toEqual([]);
  });
});

describe('trouble', () => {
  it('with the service is reported once in an interval, and ends by itself', async () => {
    const world = await startWorld({ client: { retries: 0 } });
    const { simulator, ruleId, log, runs } = world;
    let isDown = true;
    const { list } = world.client.calls;
    const calls: typeof world.client.calls = {
      ...world.client.calls,
      list: (options) => (isDown ? Promise.reject(new Error('no route')) : list(options)),
    };
    const { clock, errors } = await start(world, { client: { ...world.client, calls } });
    simulator.rules.pause(ruleId);
    await world.place(1);
    await clock.advance(60);
    expect(errors).toHaveLength(4);
    expect(errors[0]).toEqual(new Error('no route'));
    expect(log.entries).toHaveLength(4);
    expect(log.lines[0]).toContain('no route');
    isDown = false;
    await clock.advance(15);
    expect([errors.length, runs.length]).toEqual([4, 1]);
  });

  it('with the service is met by one process in an interval, not by each', async () => {
    const world = await startWorld({ client: { retries: 0 } });
    const list = () => Promise.reject(new Error('no route'));
    const calls = { ...world.client.calls, list };
    const { clock, errors, begin } = await start(world, { client: { ...world.client, calls } });
    begin();
    begin();
    clock.reconcilers = 3;
    await clock.settled();
    await clock.advance(60);
    expect(errors.length).toBeLessThanOrEqual(4);
    expect(errors.length).toBeGreaterThanOrEqual(3);
  });

  it('closes in the middle of a run, and the next process goes on', async () => {
    const world = await startWorld();
    const { simulator, ruleId, runs, receiver } = world;
    simulator.rules.pause(ruleId);
    const since = new Date(world.now());
    await world.place(30);
    await simulator.clock.advance('10m');
    const reconciler = closeLater(
      startReconciler({
        ...{ client: world.client, receiver, since, logger: world.log, concurrency: 1 },
        clock: manualClock(simulator),
        onEvent: () => {
          if (runs.length === 12) void reconciler.close();
        },
      }),
    );
    await waitFor(() => runs.length >= 12);
    await reconciler.close();
    expect(runs).toHaveLength(12);
    expect(await receiver.store.loadCursor?.('reconcile')).toContain('"next":');
    expect(world.log.entries).toEqual([]);

    const { results } = await start(world);
    expect(new Set(runs.map(({ callId }) => callId)).size).toBe(30);
    expect(runs).toHaveLength(30);
    expect(results).toHaveLength(1);
    expect(await receiver.store.loadCursor?.('reconcile')).toBeUndefined();
  });

  it('with a store that does not say how long it remembers is reported', async () => {
    const world = await startWorld();
    const store = { ...world.receiver.store, rememberFor: undefined };
    const { clock, errors, results } = await start(world, { store });
    await clock.advance(15);
    expect([String(errors[0]), results]).toEqual([expect.stringContaining('rememberFor'), []]);
  });

  it('with options is found at once, and the defaults are the documented ones', async () => {
    const { client, receiver } = await startWorld();
    expect(resolveOptions({ client, receiver })).toMatchObject({
      ...{ every: 900_000, lookBack: 21_600_000, settleFor: 600_000, dryRun: false },
      ...{ name: 'reconcile', logger: console, shared: { concurrency: 4 } },
    });
    const refused = (options: object) => () => startReconciler({ client, receiver, ...options });
    expect(refused({ every: 1_000 })).toThrow('every: expected whole milliseconds from 60000');
    expect(refused({ evry: 900_000 })).toThrow('evry');
    const { loadCursor: _, ...store } = receiver.store;
    expect(refused({ store })).toThrow('pass a store with loadCursor');
  });
});

const MISSED = 200;
const since = new Date(STARTED_AT);

/** What the other stores show in missed-calls.nightly.test.ts, in one process. */
it('memory: each of 200 missed events is handled once, and nothing runs again', async () => {
  const simulator = closeLater(
    await startSimulator({
      ...{ clock: 'manual', seed: 1, startAt: STARTED_AT, timestamps: 'clock' },
      ...{ patience: 10_000, pageSize: 20 },
    }),
  );
  const now = () => simulator.clock.now();
  const logger = collectingLogger();
  const runs: string[] = [];
  const start = () =>
    closeLater(
      createReceiver({
        ...{ secret: () => simulator.secrets.all(), store: memoryStore({ now }), now, logger },
        on: {
          'call:completed': ({ callId }, { source }) => void runs.push(`${source} ${callId!}`),
        },
      }),
    );
  const receiver = start();
  const handle = nodeHandler(receiver);
  let isDeployedWrongly = false;
  const served = await serveLocally((request, response) => {
    if (isDeployedWrongly) response.writeHead(404).end();
    else void handle(request, response);
  });
  closeLater(served);
  const rule = simulator.rules.create({
    ...{ trigger: 'call:completed', scope: 'workspace' },
    actions: [{ url: `${served.origin}/hook` }],
  });
  const place = async (count: number) => {
    for (let made = 0; made < count; made++)
      simulator.calls.place({ durationSeconds: 20, recorded: false });
    await simulator.clock.advance('2m');
    await simulator.events.settled();
  };
  await simulator.clock.advance('10m'); // the store knows nothing from before
  await place(10);
  isDeployedWrongly = true;
  await place(1);
  expect(simulator.rules.get(rule._id)).toMatchObject({ state: 'paused' });
  isDeployedWrongly = false;
  await place(MISSED - 1);
  await simulator.clock.advance('10m');

  const client = createClient({ baseUrl: simulator.url, apiToken: simulator.apiToken });
  const clock = { ...systemClock, now };
  const stopping = new AbortController();
  const onProgress = ({ seen }: { seen: number }) => {
    if (seen >= 90) stopping.abort(new Error('a deploy'));
  };
  await expect(
    reconcile({ client, receiver, since, clock, onProgress, signal: stopping.signal }),
  ).rejects.toThrow('a deploy');
  expect(runs.length).toBeGreaterThan(10 + 60);
  expect(runs.length).toBeLessThan(10 + MISSED);
  const soFar = runs.length;

  // A receiver that was restarted knows nothing, so it takes nothing for missed.
  const restarted = start();
  await expect(reconcile({ client, receiver: restarted, since, clock })).rejects.toThrow(
    /knows nothing from before it was created, 0 minutes .* Pass a later since, or use a store that survives /,
  );
  expect(runs).toHaveLength(soFar);

  expect(await reconcile({ client, receiver, since, clock })).toMatchObject({
    failed: 0,
    skipped: 0,
  });
  simulator.rules.resume(rule._id);
  const late = simulator.events.list({ state: 'dropped' });
  expect(late.length).toBeGreaterThanOrEqual(MISSED - 1);
  for (const { _id } of late) simulator.events.resend(_id);
  await simulator.clock.runUntilIdle();

  const calls = simulator.calls.list().map(({ _id }) => _id);
  expect(calls).toHaveLength(10 + MISSED);
  expect(runs.map((run) => run.split(' ')[1]).sort()).toEqual(calls.sort());
  expect(runs.filter((run) => run.startsWith('webhook'))).toHaveLength(10);
});
