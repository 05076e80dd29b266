import { describe, expect, it, jest } from '@jest/globals';
import { deferred, waitFor } from '@call-webhooks/contract-tests';
import { startReconciler } from '@call-webhooks/recovery';
import { manualClock } from '../support/manual-clock.ts';
import { closeLater, MINUTE, startWorld } from '../support/world.ts';
import { start } from './start.ts';

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

  it('with options is found at once', async () => {
    const { client, receiver } = await startWorld();
    const refused = (options: object) => () => startReconciler({ client, receiver, ...options });
    expect(refused({ every: 1_000 })).toThrow('every: expected whole milliseconds from 60000');
    expect(refused({ evry: 900_000 })).toThrow('evry');
    const { loadCursor: _, ...store } = receiver.store;
    expect(refused({ store })).toThrow('pass a store with loadCursor');
  });
});
