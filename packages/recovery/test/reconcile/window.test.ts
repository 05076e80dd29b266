import { describe, expect, it } from '@jest/globals';
import { memoryStore } from '@call-webhooks/core';
import { reconcile, SETTLE_FOR_MS } from '@call-webhooks/recovery';
import { call, clock, listing, oldReceiver, since as lateSince } from '../support/call-lists.ts';
import { HOUR, MINUTE, STARTED_AT, startWorld } from '../support/world.ts';

describe('the window', () => {
  const since = new Date(STARTED_AT);
  const NOTHING = {
    ...{ seen: 0, missed: 0, handled: 0, known: 0, inDeadLetters: 0 },
    ...{ failed: 0, ignored: 0, skipped: 0, stoppedEarly: false },
  };

  it('is refused if it is longer than the store remembers, with both numbers', async () => {
    const simulated = await startWorld();
    const { simulator, client, clock, receiver } = simulated;
    await simulator.clock.advance('3d');
    const refused = reconcile({ client, receiver, since, clock });
    await expect(refused).rejects.toThrow(
      /begins 72.2 hours \(259800000 ms\) ago, but the store remembers .* 24 hours \(86400000 ms\) only/,
    );
    await expect(refused).rejects.toMatchObject({ code: 'invalid-options' });
    await expect(refused).rejects.toThrow(/recovery\.html#the-window$/);
    await expect(
      reconcile({ client, receiver, clock, since: undefined as unknown as Date }),
    ).rejects.toThrow(/since: .*recovery\.html#reconcile$/);
    await expect(
      reconcile({ client, receiver, store: {}, since: new Date(clock.now() - 1), clock }),
    ).rejects.toThrow('rememberFor');
  });

  it('may begin a minute before what is remembered, as clocks differ, and no earlier', async () => {
    const { client, receiver, clock } = await startWorld();
    const store = { rememberFor: 3 * HOUR };
    const begins = (ago: number) =>
      reconcile({ client, receiver, store, since: new Date(clock.now() - ago), clock });
    expect(await begins(3 * HOUR + MINUTE)).toEqual(NOTHING);
    await expect(begins(3 * HOUR + MINUTE + 1)).rejects.toThrow('3 hours (10800000 ms) only');
  });

  it('leaves out calls that began before what is remembered, to the millisecond', async () => {
    const { handled, receiver } = oldReceiver();
    const ago = (ms: number, _id: string) => {
      const at = clock.now() - ms;
      return { _id, createdAt: at, endedAt: at + MINUTE };
    };
    const oldest = 3 * HOUR - MINUTE;
    const { client } = listing([[ago(oldest, 'known'), ago(oldest + 1, 'forgotten')]]);
    const store = { rememberFor: 3 * HOUR };
    const since = new Date(clock.now() - 3 * HOUR);
    expect(await reconcile({ client, receiver, store, since, clock })).toEqual({
      ...{ ...NOTHING, seen: 2, missed: 1, handled: 1, skipped: 1 },
    });
    expect(handled).toEqual(['known']);
  });

  it('is refused by a store in memory that was created later', async () => {
    const { simulator, client, receiver: old, clock } = await startWorld();
    await simulator.clock.advance('2h');
    const store = memoryStore({ now: () => clock.now() });
    await simulator.clock.advance('30m');
    const begins = (ago: number) =>
      reconcile({ client, receiver: old, store, since: new Date(clock.now() - ago), clock });
    await expect(begins(HOUR)).rejects.toThrow('30 minutes (1800000 ms) only');
    expect(await begins(30 * MINUTE)).toEqual(NOTHING);
  });

  it('leaves out calls that the store forgets while it runs', async () => {
    const { simulator, client, receiver, ruleId, runs, clock, place } = await startWorld({
      simulator: { pageSize: 5 },
    });
    simulator.rules.pause(ruleId);
    await place(10);
    await simulator.clock.advance(24 * HOUR - 12 * MINUTE);
    let minutes = 0;
    const result = await reconcile({
      ...{ client, receiver, concurrency: 1 },
      since: new Date(STARTED_AT + 10 * MINUTE),
      // Each look at the clock is a minute later: the oldest calls come last.
      clock: { ...clock, now: () => clock.now() + Math.max(0, ++minutes - 3) * MINUTE },
    });
    expect(result.seen).toBe(10);
    expect(result.skipped).toBeGreaterThan(1);
    expect(result.handled + result.skipped).toBe(10);
    expect(runs).toHaveLength(result.handled);
  });

  it('goes on where it was stopped, and looks again at calls that went on then', async () => {
    const { handled, receiver } = oldReceiver();
    const stoppedAt = STARTED_AT + 20 * HOUR;
    const result = { ...NOTHING, seen: 1, missed: 0 };
    const cursor = { since: +lateSince, until: stoppedAt, next: '1', result };
    await receiver.store.saveCursor?.('reconcile', JSON.stringify(cursor));
    const running = call(19, { endedAt: stoppedAt + HOUR });
    const { client } = listing([[call(21), running, call(13)], [call(12.5)]]);
    const found = await reconcile({ client, receiver, since: lateSince, clock });
    expect(handled.sort()).toEqual(['c12.5', 'c19', 'c21']);
    expect(found).toMatchObject({ seen: 4, handled: 3 });
  });

  it.each([
    ['begins later, as a schedule does', -1, ['1']],
    ['begins at the same time', 0, ['1']],
    ['begins earlier', 1, [undefined, '1']],
  ])(
    'that %s than that of a stopped run goes on there, or begins anew',
    async (_what, more, pages) => {
      const { handled, receiver } = oldReceiver();
      const until = clock.now() - SETTLE_FOR_MS;
      const cursor = { since: +lateSince + more, until, next: '1', result: NOTHING };
      await receiver.store.saveCursor?.('reconcile', JSON.stringify(cursor));
      const { client, asked } = listing([[call(13)], [call(12.5)]]);
      await reconcile({ client, receiver, since: lateSince, clock });
      expect(asked).toEqual(pages);
      expect(handled).toContain('c12.5');
    },
  );

  it.each([
    [
      9.9,
      /10.9 minutes \(.* ms\) ago, but this memory store knows nothing .* created, 9.9 minutes \(/,
    ],
    [10, /11 minutes \(.* ms\) ago, but the store remembers handled events for 10 minutes \(/],
    [118.9, /119.9 minutes \(.* ms\) ago, but the store .* for 118.9 minutes \(/],
    [119.5, /2 hours \(.* ms\) ago, but the store .* for 119.5 minutes \(/],
    [120, /2 hours \(.* ms\) ago, but the store .* for 2 hours \(/],
  ])('that is too long for a store that remembers %d minutes says so', async (minutes, message) => {
    const { receiver } = oldReceiver();
    const { client } = listing([[]]);
    const rememberFor = Math.round(minutes * MINUTE);
    const refused = reconcile({
      ...{ client, receiver, clock, store: { rememberFor } },
      since: new Date(clock.now() - rememberFor - MINUTE - 1),
      until: new Date(clock.now()),
    });
    await expect(refused).rejects.toThrow(message);
  });

  it('finds what is newer than the first of several runs that were stopped', async () => {
    const { handled, receiver } = oldReceiver();
    const cursor = { since: +lateSince, until: STARTED_AT + 14 * HOUR, next: '1', result: NOTHING };
    await receiver.store.saveCursor?.('reconcile', JSON.stringify(cursor));
    const pages = [[call(21), call(18)], [call(13)], [call(12.5)], [call(12.1)]];
    const run = async (stopAfter: number) => {
      const { client, asked } = listing(pages);
      const stopping = new AbortController();
      const onProgress = () => {
        if (--stopAfter === 0) stopping.abort(new Error('stopped'));
      };
      const options = { client, receiver, since: lateSince, clock, concurrency: 1 };
      await reconcile({ ...options, onProgress, signal: stopping.signal }).catch(() => undefined);
      return asked;
    };
    expect(await run(2)).toEqual(['1', '2']);
    expect(await run(2)).toEqual(['2', '3']);
    expect(handled).toEqual(['c13', 'c12.5', 'c12.1']);
    expect(await run(0)).toEqual(['3', undefined, '1', '2', '3']);
    expect(handled.sort()).toEqual(['c12.1', 'c12.5', 'c13', 'c18', 'c21']);
    expect(await receiver.store.loadCursor?.('reconcile')).toBeUndefined();
  });

  it.each([
    ['earlier', { since: +lateSince - 2 * HOUR, until: +lateSince }],
    ['longer', { since: +lateSince + HOUR, until: +lateSince + 2 * HOUR }],
    ['later', { since: +lateSince, until: clock.now() }],
  ])('counts nothing of a run that was stopped in an %s one', async (_which, { since, until }) => {
    const { handled, receiver } = oldReceiver();
    const result = { ...NOTHING, seen: 7, missed: 5, handled: 5 };
    const stopped = { since, until, next: '1', result };
    await receiver.store.saveCursor?.('reconcile', JSON.stringify(stopped));
    const { client } = listing([[call(21), call(19)], [call(13)]]);
    expect(await reconcile({ client, receiver, since: lateSince, clock })).toMatchObject({
      ...{ seen: 3, missed: 3, handled: 3 },
    });
    expect(handled.sort()).toEqual(['c13', 'c19', 'c21']);
  });

  it('must have a beginning before its end', async () => {
    const { client, receiver, clock } = await startWorld();
    const until = since;
    await expect(reconcile({ client, receiver, since, until, clock })).rejects.toThrow(
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
    const { simulator, client, receiver, clock } = world;
    const [callId] = await world.place(1);
    expect(simulator.events.counts()).toEqual({ waiting: 1 });
    isDown = false;
    expect(await reconcile({ client, receiver, since, clock })).toEqual(NOTHING);
    await simulator.clock.runUntilIdle();
    expect(simulator.events.counts()).toEqual({ acknowledged: 1 });
    expect(events).toHaveLength(1);
    expect(Object.keys(events[0] ?? {}).length).toBeGreaterThan(2);
    expect(events[0]).toMatchObject({ callId });
    await simulator.clock.advance(SETTLE_FOR_MS);
    expect(await reconcile({ client, receiver, since, clock })).toMatchObject({
      seen: 1,
      known: 1,
    });
  });

  it('ends later if it is told to, but not in the future', async () => {
    const world = await startWorld();
    const { simulator, client, receiver, ruleId, clock } = world;
    simulator.rules.pause(ruleId);
    await world.place(3);
    const run = (until?: Date) => reconcile({ client, receiver, since, until, clock });
    expect(await run()).toEqual(NOTHING);
    expect(await run(new Date(clock.now() - MINUTE))).toMatchObject({ seen: 2, handled: 2 });
    expect(await run(new Date(clock.now() + HOUR))).toMatchObject({
      seen: 3,
      handled: 1,
      known: 2,
    });
  });

  it('that would end in the future takes no call for ended that may still go on', async () => {
    const { handled, receiver } = oldReceiver();
    const { client } = listing([[call(20.5, { endedAt: undefined })]]);
    const until = new Date(clock.now() + HOUR);
    const result = await reconcile({ client, receiver, since: lateSince, until, clock });
    expect([result, handled]).toEqual([{ ...NOTHING, seen: 1 }, []]);
  });
});
