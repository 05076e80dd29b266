import { describe, expect, it } from '@jest/globals';
import { memoryDeadLetters } from '@call-webhooks/core';
import { type CallsClient, reconcile, type ReconcileResult } from '@call-webhooks/recovery';
import { call, listing, clock, oldReceiver, since } from '../support/call-lists.ts';
import { HOUR, STARTED_AT, startWorld } from '../support/world.ts';

describe('reconcile', () => {
  const since = new Date(STARTED_AT);
  const NOTHING = {
    ...{ seen: 0, missed: 0, handled: 0, known: 0, inDeadLetters: 0 },
    ...{ failed: 0, ignored: 0, skipped: 0, stoppedEarly: false },
  };

  it('runs each missed event once, and nothing that was handled before', async () => {
    const world = await startWorld();
    const { simulator, client, receiver, ruleId, runs, clock } = world;
    const handled = await world.place(12);
    simulator.rules.pause(ruleId);
    const missed = await world.place(25);
    await simulator.clock.advance('10m');
    expect(runs.map(({ callId }) => callId)).toEqual(handled);
    const progress: ReconcileResult[] = [];
    const onProgress = (result: ReconcileResult) => void progress.push(result);
    const found = { seen: 37, missed: 25, handled: 25, known: 12 };
    expect(await reconcile({ client, receiver, since, clock, onProgress })).toEqual({
      ...NOTHING,
      ...found,
    });
    expect(progress).toHaveLength(37);
    expect(progress.at(-1)).toMatchObject(found);
    const ran = runs.slice(12);
    expect(new Set(ran.map(({ source }) => source))).toEqual(new Set(['reconcile']));
    expect(ran.map(({ callId }) => callId).sort()).toEqual(missed.sort());

    // Late webhooks, and a second run, find all of them handled.
    simulator.rules.resume(ruleId);
    for (const { _id } of simulator.events.list({ state: 'dropped' })) simulator.events.resend(_id);
    await simulator.clock.runUntilIdle();
    expect(simulator.events.counts()).toEqual({ acknowledged: 12 + 25, dropped: 25 });
    expect(await reconcile({ client, receiver, since, clock })).toEqual({
      ...NOTHING,
      seen: 37,
      known: 37,
    });
    expect(runs).toHaveLength(37);
  });

  it('runs the events of the tenant whose calls they are', async () => {
    const tenants: unknown[] = [];
    const { simulator, client, receiver, ruleId, clock, place } = await startWorld({
      receiver: {
        tenant: () => 'a',
        secret: () => undefined,
        on: { 'call:completed': (_event, { tenant }) => void tenants.push(tenant) },
      },
    });
    simulator.rules.pause(ruleId);
    await place(2);
    await simulator.clock.advance('10m');
    for (const tenant of ['a', 'b'])
      expect(await reconcile({ client, receiver, since, clock, tenant })).toMatchObject({
        missed: 2,
      });
    expect(tenants).toEqual(['a', 'a', 'b', 'b']);
    await expect(reconcile({ client, receiver, since, clock })).rejects.toThrow(
      'Pass the tenant whose calls',
    );
  });

  it('goes on where it was stopped, and finds what is newer as well', async () => {
    const { simulator, client, receiver, ruleId, runs, requests, clock, place } =
      await startWorld();
    simulator.rules.pause(ruleId);
    await place(45);
    await simulator.clock.advance('10m');
    const stopping = new AbortController();
    const stopped = reconcile({
      ...{ client, receiver, since, clock, concurrency: 1 },
      signal: stopping.signal,
      onProgress: ({ handled }) => {
        if (handled === 23) stopping.abort(new Error('enough'));
      },
    });
    await expect(stopped).rejects.toThrow('enough');
    expect(runs).toHaveLength(23);
    expect(requests).toHaveLength(3);

    await place(10); // newer ones, which come first in the list
    await simulator.clock.advance('10m');
    requests.length = 0;
    const result = await reconcile({ client, receiver, since, clock, concurrency: 1 });
    expect(runs).toHaveLength(55);
    expect(new Set(runs.map(({ callId }) => callId)).size).toBe(55);
    // The first two pages were done: their 20 calls are in the result of both runs together.
    expect(result).toMatchObject({ handled: 20 + 22 + 10, failed: 0, skipped: 0 });
    const pages = requests.map((url) => new URL(url).searchParams.get('next'));
    expect(pages[0]).not.toBeNull();
    expect(pages.slice(1)).toContain(null);
    expect(await receiver.store.loadCursor?.('reconcile')).toBeUndefined();
  });

  it('begins anew for another window, and for a cursor that the service refuses', async () => {
    const { simulator, client, receiver, ruleId, runs, clock, place } = await startWorld();
    simulator.rules.pause(ruleId);
    await place(15);
    await simulator.clock.advance('10m');
    const cursor = { since: +since, until: clock.now(), next: 'unknown', result: NOTHING };
    await receiver.store.saveCursor?.('reconcile', JSON.stringify(cursor));
    await reconcile({ client, receiver, since, clock });
    expect(runs).toHaveLength(15);

    await receiver.store.saveCursor?.(
      'reconcile',
      JSON.stringify({ ...cursor, since: +since + 1 }),
    );
    const again = await reconcile({ client, receiver, since, clock });
    expect(again).toMatchObject({ seen: 15, known: 15 });
    await receiver.store.saveCursor?.('reconcile', 'no JSON');
    expect(await reconcile({ client, receiver, since, clock })).toEqual(again);
  });

  it('begins anew after a run that stopped while its clock was ahead', async () => {
    const { simulator, client, receiver, ruleId, runs, clock, place } = await startWorld();
    simulator.rules.pause(ruleId);
    await place(25);
    const store = { ...receiver.store, rememberFor: 24 * HOUR };
    const options = { client, receiver, store, since, concurrency: 1 };
    const stopping = new AbortController();
    const stopped = reconcile({
      ...options,
      clock: { ...clock, now: () => clock.now() + 2 * HOUR },
      signal: stopping.signal,
      onProgress: ({ seen }) => {
        if (seen === 15) stopping.abort(new Error('enough'));
      },
    });
    await expect(stopped).rejects.toThrow('enough');
    expect(await receiver.store.loadCursor?.('reconcile')).toContain('"next":');
    await place(1);
    await simulator.clock.advance('10m');
    expect(await reconcile({ ...options, clock })).toMatchObject({ seen: 26, handled: 11 });
    expect(new Set(runs.map(({ callId }) => callId)).size).toBe(26);
  });

  it('finds what failed again, until it is handled or in the dead letters', async () => {
    const letters = memoryDeadLetters();
    const world = await startWorld({ receiver: { deadLetter: letters, maxAttempts: 2 } });
    const { simulator, client, receiver, ruleId, failing, clock } = world;
    simulator.rules.pause(ruleId);
    const [one = '', two = ''] = await world.place(5);
    await simulator.clock.advance('10m');
    failing.add(one).add(two);
    const run = () => reconcile({ client, receiver, since, clock });
    expect(await run()).toMatchObject({ missed: 5, handled: 3, failed: 2 });
    failing.delete(two);
    // No delivery came for these two either, but that was found before.
    expect(await run()).toMatchObject({ missed: 0, handled: 1, failed: 1, known: 3 });
    expect(await letters.count()).toBe(1);
    expect(await run()).toMatchObject({ missed: 0, handled: 0, failed: 0 });
    expect(await run()).toMatchObject({ seen: 5, known: 4, inDeadLetters: 1 });
  });

  it('leaves a call alone until it has ended', async () => {
    const { simulator, client, receiver, ruleId, runs, clock } = await startWorld();
    simulator.rules.pause(ruleId);
    const { _id } = simulator.calls.start();
    await simulator.clock.advance('1h');
    const run = () => reconcile({ client, receiver, since, clock });
    expect(await run()).toEqual({ ...NOTHING, seen: 1 });
    simulator.calls.end(_id);
    await simulator.clock.advance('10m');
    expect(await run()).toMatchObject({ seen: 1, missed: 1, handled: 1 });
    expect(runs).toEqual([{ callId: _id, source: 'reconcile' }]);
  });

  it('asks whether there is a recording, and downloads none of it', async () => {
    const { receiver } = oldReceiver();
    const { client } = listing([[call(20), call(19)]]);
    let open = 0;
    const body = () => {
      open += 1;
      return new ReadableStream({ cancel: () => void (open -= 1) });
    };
    const recording = () => Promise.resolve({ body: body() } as never);
    const calls = { ...client.calls, recording };
    const asked = { client: { ...client, calls }, receiver, since, clock };
    expect(await reconcile({ ...asked, recordings: true })).toMatchObject({ seen: 2 });
    expect(open).toBe(0);
  });

  it('makes events of recordings if it is asked to, and other events of the own function', async () => {
    const events: unknown[] = [];
    const keep = (event: unknown) => void events.push(event);
    const on = { 'call:started': keep, 'call:recording-available': keep };
    const world = await startWorld({ receiver: { on } });
    const { simulator, client, receiver, ruleId, clock } = world;
    simulator.rules.pause(ruleId);
    const [recorded = '', other = ''] = await world.place(2);
    await simulator.clock.advance('10m');
    const result = await reconcile({
      ...{ client, receiver, since, clock, recordings: true },
      toEvents: ({ _id }) => [
        { eventName: 'call:started', callId: _id },
        { eventName: 'call:completed', callId: _id },
      ],
    });
    expect(result).toEqual({ ...NOTHING, seen: 2, missed: 3, handled: 3, ignored: 2 });
    expect(events).toHaveLength(3);
    expect(events).toContainEqual({
      eventName: 'call:recording-available',
      eventId: `${recorded}:recording-available`,
      callId: recorded,
      recordingUrl: `${simulator.url}/v1/calls/${recorded}/recording`,
    });
    for (const callId of [recorded, other])
      expect(events).toContainEqual({ eventName: 'call:started', callId });
  });
});

describe('the order of the list', () => {
  const old = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((hour) => call(hour));

  it('lets a run end early only if it is promised to have the newest calls first', async () => {
    const pages = [[call(15), call(13), call(11)], [call(10), call(9)], [call(8)]];
    const run = async (newestFirst: boolean) => {
      const { client, asked } = listing(pages);
      const { receiver, handled } = oldReceiver();
      const result = await reconcile({ client, receiver, since, clock, newestFirst });
      expect([result.seen, handled]).toEqual([2, ['c15', 'c13']]);
      return { asked, stoppedEarly: result.stoppedEarly };
    };
    expect(await run(true)).toEqual({ asked: [undefined, '1'], stoppedEarly: true });
    expect(await run(false)).toEqual({ asked: [undefined, '1', '2'], stoppedEarly: false });
  });

  it.each([
    ['has no calls', []],
    ['has only calls without a time', [{ _id: 'x' }, { _id: 'y' }]],
    ['has a call in the window', [call(11), call(12), call(10)]],
  ])('lets a run go on after a page that %s', async (_what, page) => {
    const { client, asked } = listing([[call(15)], page, [call(13)], [call(11)], [call(10)]]);
    const { receiver, handled } = oldReceiver();
    await reconcile({ client, receiver, since, clock, newestFirst: true });
    expect(asked).toEqual([undefined, '1', '2', '3']);
    expect(handled).toContain('c13');
  });

  it('is no early end when the last page was read anyway', async () => {
    const { client } = listing([[call(15)], old]);
    const { receiver } = oldReceiver();
    const result = await reconcile({ client, receiver, since, clock, newestFirst: true });
    expect(result).toMatchObject({ handled: 1, stoppedEarly: false });
  });

  it.each([
    [
      'the oldest first',
      [
        [call(7), call(8)],
        [call(9), call(13)],
        [call(14), call(15)],
      ],
    ],
    ['many old ones in front', [old, [call(15), call(14), call(13)]]],
    ['no order', [[call(10), call(9)], [call(7)], [call(13), call(6), call(14), call(15)]]],
    ['one call a page', [[call(9)], [call(8)], [call(13)], [call(14)], [call(15)]]],
  ])('is not relied on otherwise: %s', async (_order, pages) => {
    const { client, asked } = listing(pages);
    const { receiver, handled } = oldReceiver();
    const result = await reconcile({ client, receiver, since, clock });
    expect(result).toMatchObject({ seen: 3, handled: 3, stoppedEarly: false });
    expect(handled.sort()).toEqual(['c13', 'c14', 'c15']);
    expect(asked).toHaveLength(pages.length);
  });

  it('may repeat calls on a later page, but not a cursor', async () => {
    const { client } = listing([
      [call(15), call(14)],
      [call(14), call(13)],
    ]);
    const { receiver, handled } = oldReceiver();
    const result = await reconcile({ client, receiver, since, clock });
    expect(result).toMatchObject({ seen: 4, handled: 3, known: 1 });
    expect(handled).toHaveLength(3);

    const endless: CallsClient = {
      ...client,
      calls: {
        ...client.calls,
        list: () => Promise.resolve({ results: [call(15)], next: 'x', hasNext: true, raw: {} }),
      },
    };
    await expect(reconcile({ client: endless, receiver, since, clock })).rejects.toThrow(
      'wire.nextParam',
    );
  });
});

describe('call records', () => {
  it('without any time are refused, with the fields that were looked for', async () => {
    const { receiver, handled } = oldReceiver();
    const { client } = listing([[{ _id: 'a', begun: clock.now() - HOUR }]]);
    const run = (fieldNames = {}) => reconcile({ client, receiver, since, clock, fieldNames });
    await expect(run()).rejects.toThrow('no call record has a time in createdAt or startedAt');
    await expect(run({ createdAt: 'made' })).rejects.toThrow('in made or startedAt');
    expect(handled).toEqual([]);
    expect(await run({ createdAt: 'begun' })).toMatchObject({ seen: 1, handled: 0 });
  });

  it('have fields of one meaning each, as in a receiver', async () => {
    const { client } = listing([[]]);
    for (const fieldNames of [{ endedAt: '' }, { endedAt: 'createdAt' }, { ended: 'x' }])
      await expect(
        reconcile({ client, receiver: oldReceiver().receiver, since, clock, fieldNames }),
      ).rejects.toMatchObject({
        code: 'invalid-options',
        message: expect.stringMatching(/^Invalid options of reconcile: fieldNames/),
      });
  });

  it('are left out one by one if only some have none', async () => {
    const { receiver, handled } = oldReceiver();
    const undated = ['soon', null, 0, '0001-01-01'].map((time) => call(14, { createdAt: time }));
    const { client } = listing([[call(15), { _id: 'x' }, ...undated]]);
    const result = await reconcile({ client, receiver, since, clock });
    expect(result).toMatchObject({ seen: 1, handled: 1, skipped: 5 });
    expect(handled).toEqual(['c15']);
  });
});
