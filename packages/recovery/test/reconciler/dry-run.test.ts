import { describe, expect, it } from '@jest/globals';
import { startReconciler, status } from '@call-webhooks/recovery';
import { HOUR, STARTED_AT, startWorld } from '../support/world.ts';
import { start } from './start.ts';

describe('a reconciler that runs nothing', () => {
  it('reports what was missed, each time until somebody runs it, and status shows it', async () => {
    const world = await startWorld();
    const { simulator, ruleId, runs, log, receiver } = world;
    const { clock, reconciler, reports } = await start(world, { dryRun: true, lookBack: HOUR });
    await world.place(2);
    const now = () => clock.now();
    expect((await status({ store: receiver.store, now })).attention).toEqual([]);

    simulator.rules.pause(ruleId);
    const [missed = ''] = await world.place(1);
    await clock.advance(45);
    expect(runs).toHaveLength(2);
    expect(reports.length).toBeGreaterThanOrEqual(2);
    for (const report of reports) expect(report).toMatchObject({ missed: 1, callIds: [missed] });
    const [line] = log.entries;
    expect(line?.message).toContain('This is a dry run, so nothing was run. A rule may be paused');
    expect(line?.message).not.toContain('check that the client');
    const { attention } = await status({ store: receiver.store, now });
    expect(attention).toMatchObject([{ kind: 'missed', eventName: 'call:completed', count: 1 }]);
    expect(attention[0]?.text).toMatch(/found 1 `call:completed` event that never arrived/);
    expect(attention[0]?.fix).toContain('without dryRun');

    // Another one, which runs them, has a schedule of its own.
    await reconciler.close();
    const second = await start(world, { since: new Date(STARTED_AT) });
    expect(runs.at(-1)).toEqual({ callId: missed, source: 'reconcile' });
    expect(second.reports).toMatchObject([{ missed: 1 }]);
    // The next run finds nothing more, and status has nothing to say.
    await second.clock.advance(20);
    const after = await status({ store: receiver.store, now: () => second.clock.now() });
    expect(after.attention).toEqual([]);
  });

  it('doubts a result by which the store knows none of the events, as with the client of somebody else', async () => {
    const world = await startWorld();
    world.simulator.rules.pause(world.ruleId);
    const { clock } = await start(world, { dryRun: true });
    await world.place(2);
    await clock.advance(45);
    expect(world.log.entries[0]?.message).toContain(
      'check that the client lists the calls of this receiver, and that the tenant is right',
    );
  });

  it('says that events have failed so far, and does not run them', async () => {
    const world = await startWorld({ simulator: { maxAttempts: 2 } });
    const { simulator, failing, runs, log } = world;
    const { clock, results } = await start(world, { dryRun: true });
    failing.add(simulator.calls.place({ durationSeconds: 20 })._id);
    await clock.advance(40);
    const ran = runs.length;
    await clock.advance(30);
    expect(runs).toHaveLength(ran);
    expect(results.at(-1)).toMatchObject({ missed: 0, handled: 0 });
    const lines = log.entries
      .map(({ message }) => message)
      .filter((text) => text.includes('dry run'));
    expect(lines.at(-1)).toMatch(/^call-webhooks: 1 event has failed and was not handled so far\./);
  });

  it('needs a store that can be asked', async () => {
    const { receiver, client } = await startWorld();
    const { peek: _, ...blind } = receiver.store;
    expect(() => startReconciler({ client, receiver, store: blind, dryRun: true })).toThrow(
      'pass a store with peek',
    );
  });
});

it('what a run found is told with 20 calls and 20 event names at most, however many there are', async () => {
  const world = await startWorld();
  const { simulator, ruleId, receiver, log } = world;
  simulator.rules.pause(ruleId);
  const { clock, reports } = await start(world, {
    dryRun: true,
    // Each call has an event of its own name.
    toEvents: ({ _id }) => [{ eventName: `order:${_id}`, eventId: _id }],
  });
  await world.place(25);
  await clock.advance(30);
  expect(reports.at(-1)?.missed).toBe(25);
  expect(reports.at(-1)?.callIds).toHaveLength(20);
  expect(log.entries.at(-1)?.fields['callIds']).toHaveLength(20);
  const { attention } = await status({ store: receiver.store, now: () => clock.now() });
  expect(new Set(attention.map(({ eventName }) => eventName)).size).toBe(20);
});
