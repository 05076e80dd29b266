import { describe, expect, it } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import { MINUTE, startWorld } from '../support/world.ts';
import { start } from './start.ts';

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
    expect(line?.message).toContain('The rule may be paused');
    expect(line?.fields['docs']).toMatch(/^https:.*\/recovery\.html#silence$/);

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
