import { describe, expect, it } from '@jest/globals';
import { ApiError, type CallRecord, type Page } from '@call-webhooks/client';
import { createReceiver, generateSecret, memoryStore } from '@call-webhooks/core';
import { reconcile, type CallsClient, type ToEvents } from '@call-webhooks/recovery';
import { HOUR, MINUTE, STARTED_AT, startWorld } from '../support/world.ts';

const now = () => STARTED_AT + 24 * HOUR;
const since = new Date(STARTED_AT + 12 * HOUR);

/** A receiver whose store is as old as it has to be, and what it handled. */
function oldReceiver(maxInFlight = 10) {
  const handled: string[] = [];
  let time = STARTED_AT;
  const store = memoryStore({ now: () => time });
  const on = {
    'call:completed': ({ callId }: { callId?: unknown }) => void handled.push(String(callId)),
  };
  const receiver = createReceiver({ secret: generateSecret(), store, on, maxInFlight });
  time = now();
  return { handled, receiver };
}

/** A service that has these pages. */
function listing(pages: readonly (readonly CallRecord[])[]) {
  const asked: (string | undefined)[] = [];
  const client: CallsClient = {
    baseUrl: 'https://service.example',
    calls: {
      list({ next } = {}) {
        asked.push(next);
        const index = Number(next ?? 0);
        const following = index + 1 < pages.length ? String(index + 1) : undefined;
        const page: Page<CallRecord> = {
          results: pages[index] ?? [],
          next: following,
          hasNext: following !== undefined,
          raw: {},
        };
        return Promise.resolve(page);
      },
      recording: () => Promise.reject(new Error('not asked for')),
    },
  };
  return { asked, client };
}

const call = (hour: number, more: object = {}): CallRecord => ({
  _id: `c${String(hour)}`,
  createdAt: STARTED_AT + hour * HOUR,
  endedAt: STARTED_AT + hour * HOUR + MINUTE,
  ...more,
});

describe('the order of the list', () => {
  it('ends the run with the first page that is too old, if the newest calls come first', async () => {
    const newest = [22, 21, 20, 19, 18, 17, 16].map((hour) => call(hour));
    const { client, asked } = listing([
      newest,
      [call(13), call(11)],
      [call(10), call(9)],
      [call(8), call(7)],
    ]);
    const { receiver, handled } = oldReceiver();
    await reconcile({ client, receiver, since, now });
    expect(handled.sort()).toEqual(['c13', ...newest.map(({ _id }) => _id)].sort());
    expect(asked).toEqual([undefined, '1', '2']);
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
    [
      'no order',
      [
        [call(10), call(9)],
        [call(7), call(8)],
        [call(13), call(6), call(14), call(15)],
      ],
    ],
    ['one call a page', [[call(9)], [call(8)], [call(13)], [call(14)], [call(15)]]],
    [
      'one time',
      [
        [call(9), call(9)],
        [call(13), call(14), call(15)],
      ],
    ],
  ])('is not relied on: %s', async (_order, pages) => {
    const { client, asked } = listing(pages);
    const { receiver, handled } = oldReceiver();
    const result = await reconcile({ client, receiver, since, now });
    expect(result).toMatchObject({ seen: 3, handled: 3 });
    expect(handled.sort()).toEqual(['c13', 'c14', 'c15']);
    expect(asked).toHaveLength(pages.length);
  });

  it('may repeat calls on a later page, but not a cursor', async () => {
    const { client } = listing([
      [call(15), call(14)],
      [call(14), call(13)],
    ]);
    const { receiver, handled } = oldReceiver();
    const result = await reconcile({ client, receiver, since, now });
    expect(result).toMatchObject({ seen: 4, handled: 3, known: 1 });
    expect(handled).toHaveLength(3);

    const endless: CallsClient = {
      ...client,
      calls: {
        ...client.calls,
        list: () => Promise.resolve({ results: [call(15)], next: 'x', hasNext: true, raw: {} }),
      },
    };
    await expect(reconcile({ client: endless, receiver, since, now })).rejects.toThrow(
      'wire.nextParam',
    );
  });
});

describe('call records', () => {
  it('without any time are refused, with the fields that were looked for', async () => {
    const { receiver, handled } = oldReceiver();
    const { client } = listing([[{ _id: 'a', begun: now() - HOUR }]]);
    const run = (fieldNames = {}) => reconcile({ client, receiver, since, now, fieldNames });
    await expect(run()).rejects.toThrow('no call record has a time in createdAt or startedAt');
    await expect(run({ createdAt: 'made' })).rejects.toThrow('in made or startedAt');
    expect(handled).toEqual([]);
    expect(await run({ createdAt: 'begun' })).toMatchObject({ seen: 1, handled: 0 });
  });

  it('are left out one by one if only some have none', async () => {
    const { receiver, handled } = oldReceiver();
    const { client } = listing([[call(15), { _id: 'x' }, call(14, { createdAt: 'soon' })]]);
    const result = await reconcile({ client, receiver, since, now });
    expect(result).toMatchObject({ seen: 1, handled: 1, skipped: 2 });
    expect(handled).toEqual(['c15']);
  });
});

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
    const run = () => reconcile({ client, receiver: failing, since, now, concurrency: 1 });
    await expect(run()).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(handled).toEqual(['c20', 'c19', 'c18']);
    left = Infinity;
    asked.length = 0;
    expect(await run()).toMatchObject({ seen: 6, handled: 5, known: 1 });
    expect(asked).toStrictEqual(['1', '2']);
    expect(handled).toHaveLength(6);
  });

  it('refuses events without a key, which would run each time', async () => {
    const { client } = listing([[call(15)]]);
    const { receiver, handled } = oldReceiver();
    const toEvents: ToEvents = () => [{ eventName: 'call:completed' }];
    const run = reconcile({ client, receiver, since, now, toEvents });
    await expect(run).rejects.toThrow('callId or an eventId');
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
      reconcile({ client: { ...client, calls }, receiver, since, now }),
    ).rejects.toBeInstanceOf(ApiError);
    expect(requests).toBe(1);
  });

  it('ignores what hooks throw, and checks its options', async () => {
    const { client } = listing([[call(15)]]);
    const { receiver } = oldReceiver();
    const broken = () => {
      throw new Error('broken');
    };
    const options = { client, receiver, since, now };
    const result = await reconcile({ ...options, onProgress: broken, onEvent: broken });
    expect(result).toMatchObject({ handled: 1 });
    await expect(reconcile({ ...options, concurrency: 0, pageSize: 0.5 })).rejects.toThrow(
      /concurrency.*pageSize|pageSize.*concurrency/,
    );
    await expect(
      reconcile({ ...options, receiver: { deliver: receiver.deliver } }),
    ).rejects.toThrow('pass the store');
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
    const { client, receiver, now: simulated } = world;
    const result = await reconcile({
      ...{ client, receiver, since: new Date(STARTED_AT), now: simulated },
    });
    expect(result).toMatchObject({ seen: 22, handled: 22 });
    expect(waits.filter((delay) => delay < 60_000).length).toBeGreaterThanOrEqual(2);
  });
});
