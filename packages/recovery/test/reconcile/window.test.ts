import { describe, expect, it } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import { reconcile, SETTLE_FOR_MS } from '@call-webhooks/recovery';
import { HOUR, MINUTE, STARTED_AT, startWorld } from '../support/world.ts';

const since = new Date(STARTED_AT);
const NOTHING = {
  ...{ seen: 0, missed: 0, handled: 0, known: 0, inDeadLetters: 0 },
  ...{ failed: 0, ignored: 0, skipped: 0 },
};

describe('the window', () => {
  it('is refused if it is longer than the store remembers, with both numbers', async () => {
    const simulated = await startWorld();
    const { simulator, client, now, receiver } = simulated;
    await simulator.clock.advance('3d');
    const refused = reconcile({ client, receiver, since, now });
    await expect(refused).rejects.toThrow(
      /begins 3 days \(259800000 ms\) ago, but the store remembers .* 24 hours \(86400000 ms\) only/,
    );
    await expect(refused).rejects.toMatchObject({ code: 'invalid-options' });
    await expect(refused).rejects.toThrow(/recovery\.html#the-window$/);
    await expect(
      reconcile({ client, receiver, now, since: undefined as unknown as Date }),
    ).rejects.toThrow(/since: .*recovery\.html#reconcile$/);
    await expect(
      reconcile({ client, receiver, store: {}, since: new Date(now() - 1), now }),
    ).rejects.toThrow('rememberFor');
  });

  it('is refused by a store in memory that was created later', async () => {
    const { simulator, client, receiver: old, now } = await startWorld();
    await simulator.clock.advance('2h');
    const store = memoryStore({ now });
    await simulator.clock.advance('30m');
    const begins = (ago: number) =>
      reconcile({ client, receiver: old, store, since: new Date(now() - ago), now });
    await expect(begins(HOUR)).rejects.toThrow('30 minutes (1800000 ms) only');
    expect(await begins(30 * MINUTE)).toEqual(NOTHING);
  });

  it('leaves out calls that the store forgets while it runs', async () => {
    const { simulator, client, receiver, ruleId, runs, now, place } = await startWorld({
      simulator: { pageSize: 5 },
    });
    simulator.rules.pause(ruleId);
    await place(10);
    await simulator.clock.advance(24 * HOUR - 12 * MINUTE);
    const result = await reconcile({
      ...{ client, receiver, concurrency: 1 },
      since: new Date(STARTED_AT + 10 * MINUTE),
      // Each look at the clock is a minute later: the oldest calls come last.
      now: (() => {
        let minutes = 0;
        return () => now() + Math.max(0, ++minutes - 3) * MINUTE;
      })(),
    });
    expect(result.seen).toBe(10);
    expect(result.skipped).toBeGreaterThan(1);
    expect(result.handled + result.skipped).toBe(10);
    expect(runs).toHaveLength(result.handled);
  });

  it('must have a beginning before its end', async () => {
    const { client, receiver, now } = await startWorld();
    const until = since;
    await expect(reconcile({ client, receiver, since, until, now })).rejects.toThrow(
      'before until',
    );
  });

  it('ends 10 minutes ago by default: a webhook that failed comes again, with its data', async () => {
    const events: object[] = [];
    let isDown = true;
    const onCompleted = (event: object) => {
      if (isDown) throw new Error('the CRM is down');
      events.push(event);
    };
    const world = await startWorld({ receiver: { on: { 'call:completed': onCompleted } } });
    const { simulator, client, receiver, now } = world;
    const [callId] = await world.place(1);
    expect(simulator.deliveries.counts()).toEqual({ waiting: 1 });
    isDown = false;
    expect(await reconcile({ client, receiver, since, now })).toEqual(NOTHING);
    await simulator.clock.runUntilIdle();
    expect(simulator.deliveries.counts()).toEqual({ acknowledged: 1 });
    expect(events).toHaveLength(1);
    expect(Object.keys(events[0] ?? {}).length).toBeGreaterThan(2);
    expect(events[0]).toMatchObject({ callId });
    await simulator.clock.advance(SETTLE_FOR_MS);
    expect(await reconcile({ client, receiver, since, now })).toMatchObject({ seen: 1, known: 1 });
  });

  it('ends later if it is told to, but not in the future', async () => {
    const world = await startWorld();
    const { simulator, client, receiver, ruleId, now } = world;
    simulator.rules.pause(ruleId);
    await world.place(3);
    const run = (until?: Date) => reconcile({ client, receiver, since, until, now });
    expect(await run()).toEqual(NOTHING);
    expect(await run(new Date(now() - MINUTE))).toMatchObject({ seen: 2, handled: 2 });
    expect(await run(new Date(now() + HOUR))).toMatchObject({ seen: 3, handled: 1, known: 2 });
  });
});
