import { describe, expect, it } from '@jest/globals';
import { ApiError } from '@call-webhooks/client';
import { eventKey } from '@call-webhooks/core';
import {
  completedEvents,
  reconcile,
  type StoreRetry,
  type ToEvents,
} from '@call-webhooks/recovery';
import { call, listing, clock, oldReceiver, since } from '../support/call-lists.ts';
import { fastClock } from '../support/fast-clock.ts';
import { STARTED_AT, startWorld } from '../support/world.ts';

describe('trouble', () => {
  it('stops when the receiver can take nothing now, and goes on at that page', async () => {
    const pages = [
      [call(20), call(19)],
      [call(18), call(17)],
      [call(16), call(15)],
    ];
    const { client, asked } = listing(pages);
    const { receiver, handled } = oldReceiver();
    const { store } = receiver;
    let left = 3;
    const failing = {
      store,
      deliver: (...[event, options]: Parameters<typeof receiver.deliver>) =>
        left-- > 0
          ? receiver.deliver(event, options)
          : Promise.resolve({ outcome: 'store-unavailable' as const }),
    };
    const options = { client, receiver: failing, since, concurrency: 1 };
    const run = () => reconcile({ ...options, clock: fastClock(clock.now()) });
    await expect(run()).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(handled).toEqual(['c20', 'c19', 'c18']);
    left = Infinity;
    asked.length = 0;
    expect(await run()).toMatchObject({ seen: 6, handled: 5, known: 1 });
    expect(asked).toStrictEqual(['1', '2']);
    expect(handled).toHaveLength(6);
  });

  it.each(['peek', 'loadCursor', 'saveCursor', 'deliver'] as const)(
    'goes on when %s() fails three times, and says so each time',
    async (method) => {
      const { client } = listing([[call(20), call(19)], [call(18)]]);
      const { receiver, handled } = oldReceiver();
      let failures = 3;
      const down = () => (failures-- > 0 ? Promise.reject(new Error('connection refused')) : null);
      const { store } = receiver as Required<typeof receiver>;
      const own = fastClock(clock.now());
      const retries: StoreRetry[] = [];
      const result = await reconcile({
        ...{ client, since, clock: own, concurrency: 1, dryRun: method === 'peek' },
        onRetry: (retry) => void retries.push(retry),
        store: {
          rememberFor: store.rememberFor,
          peek: async (keys) => (method === 'peek' && down()) || (store.peek?.(keys) ?? []),
          loadCursor: async (name) =>
            (method === 'loadCursor' && (await down())) || store.loadCursor?.(name),
          saveCursor: async (name, cursor) =>
            (method === 'saveCursor' && (await down())) || store.saveCursor?.(name, cursor),
        },
        receiver: {
          deliver: (event, options) =>
            method === 'deliver' && failures-- > 0
              ? Promise.resolve({ outcome: 'overloaded' as const })
              : receiver.deliver(event, options),
        },
      });
      expect(result).toMatchObject({ seen: 3, missed: 3 });
      expect(handled).toHaveLength(method === 'peek' ? 0 : 3);
      expect(retries.map(({ pauseMs }) => pauseMs)).toEqual([500, 1_000, 1_500]);
      expect(own.now() - clock.now()).toBe(3_000);
      expect(own.pending()).toBe(0);
    },
  );

  it('refuses events without a key, which would run each time', async () => {
    const { client } = listing([[call(15)]]);
    const { receiver, handled } = oldReceiver();
    const toEvents: ToEvents = () => [{ eventName: 'call:completed' }];
    const run = reconcile({ client, receiver, since, clock, toEvents });
    await expect(run).rejects.toThrow('a callId nor an eventId');
    expect(handled).toEqual([]);
  });

  it('does not take an error of the service for an old cursor', async () => {
    const { client } = listing([]);
    const { receiver } = oldReceiver();
    let requests = 0;
    const calls = {
      ...client.calls,
      list() {
        requests++;
        return Promise.reject(new ApiError({ method: 'GET', path: '/v1/calls', status: 400 }));
      },
    };
    await expect(
      reconcile({ client: { ...client, calls }, receiver, since, clock }),
    ).rejects.toBeInstanceOf(ApiError);
    expect(requests).toBe(1);
  });

  it('ignores what hooks throw, and checks its options', async () => {
    const { client } = listing([[call(15)]]);
    const { receiver } = oldReceiver();
    const broken = () => {
      throw new Error('broken');
    };
    const options = { client, receiver, since, clock };
    const result = await reconcile({ ...options, onProgress: broken, onEvent: broken });
    expect(result).toMatchObject({ handled: 1 });
    await expect(reconcile({ ...options, concurrency: 0, pageSize: 0.5 })).rejects.toThrow(
      /concurrency.*pageSize|pageSize.*concurrency/,
    );
    await expect(
      reconcile({ ...options, receiver: { deliver: receiver.deliver } }),
    ).rejects.toThrow('Pass the store');
  });

  it('takes 0 in a call record for a time that is not known', async () => {
    const { receiver } = oldReceiver();
    const { client } = listing([[call(15, { startedAt: 0 }), call(23, { endedAt: 0 })]]);
    const result = await reconcile({ client, receiver, since, clock });
    expect(result).toMatchObject({ seen: 2, handled: 1 }); // the other may still be running
  });

  it('waits as long as the service asks it to', async () => {
    let wall = STARTED_AT;
    const waits: number[] = [];
    const world = await startWorld({
      simulator: { rateLimit: { requests: 2, every: 30_000 }, wallClock: () => wall, pageSize: 5 },
      client: {
        clock: {
          now: () => wall,
          schedule(delay, callback) {
            if (delay >= 30_000) waits.push(delay); // the others are time-outs
            if (delay < 30_000 || delay > 60_000) return () => undefined;
            wall += delay;
            const timer = setTimeout(callback);
            return () => {
              clearTimeout(timer);
            };
          },
        },
        timeout: 90_000,
      },
    });
    world.simulator.rules.pause(world.ruleId);
    await world.place(22);
    await world.simulator.clock.advance('10m');
    const { client, receiver, clock: simulated } = world;
    const result = await reconcile({
      ...{ client, receiver, since: new Date(STARTED_AT), clock: simulated },
    });
    expect(result).toMatchObject({ seen: 22, handled: 22 });
    expect(waits.filter((delay) => delay < 60_000).length).toBeGreaterThanOrEqual(2);
  });
});

const HOUR = 3_600_000;
const BEGAN = Date.UTC(2026, 0, 31, 12);
const at = (hours: number) => ({ until: new Date(BEGAN + hours * HOUR) });

describe('completedEvents', () => {
  const call = { _id: 'call-1', createdAt: BEGAN, phone: '+1 555' };

  it('makes an event with the key of the webhook that did not come, and nothing else of the record', () => {
    const ended = { ...call, endedAt: new Date(BEGAN + HOUR).toISOString() };
    const events = completedEvents()(ended, at(1));
    expect(events).toEqual([{ eventName: 'call:completed', callId: 'call-1' }]);
    expect(eventKey(events[0] ?? {})).toBe('call-1:call:completed');
    expect(completedEvents()(ended, at(0.99))).toEqual([]);
  });

  it('takes a call for running while its record has no end, for four hours', () => {
    expect(completedEvents()(call, at(3.99))).toEqual([]);
    expect(completedEvents()(call, at(4))).toHaveLength(1);
    expect(completedEvents()({ _id: 'undated' }, at(1_000))).toEqual([]);
  });

  it('reads the times from the fields that it is given', () => {
    const own = completedEvents({ createdAt: 'made', endedAt: 'over' });
    const renamed = { _id: 'c', made: BEGAN, over: BEGAN + HOUR };
    expect([own(renamed, at(1)).length, own(renamed, at(0.5)).length]).toEqual([1, 0]);
    expect(completedEvents()(renamed, at(10))).toEqual([]);
  });
});
