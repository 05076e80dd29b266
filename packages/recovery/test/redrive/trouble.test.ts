import { getEventListeners } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret, memoryStore, type DeadLetters } from '@call-webhooks/core';
import { redrive, type RedriveProgress, type StoreRetry } from '../../src/index.ts';
import { fastClock } from '../support/fast-clock.ts';
import { fill, setup } from './support.ts';

type Answer = () => Promise<unknown>;

/** What a call of a store may do instead of answering, and how often it is repeated then. */
const TROUBLE = {
  throws: () => {
    throw new Error('not connected');
  },
  rejects: () => Promise.reject(new Error('connection refused')),
  hangs: () => new Promise<never>(() => undefined),
  'does it, and loses the answer': (answer) =>
    answer().then(() => Promise.reject(new Error('connection reset'))),
  'answers too late': (answer, clock) =>
    new Promise((resolve) => {
      clock.schedule(11_000, () => resolve(answer()));
    }),
} satisfies Record<string, (answer: Answer, clock: ReturnType<typeof fastClock>) => unknown>;

const METHODS = ['list', 'claim', 'settle', 'giveBack', 'get'] as const;

/** Dead letters one method of which is in trouble for a number of calls. */
function troubled(
  deadLetters: DeadLetters,
  method: (typeof METHODS)[number] | 'extend',
  kind: keyof typeof TROUBLE,
  clock: ReturnType<typeof fastClock>,
  times: number,
): DeadLetters {
  let left = times;
  const answer = deadLetters[method] as (...given: unknown[]) => Promise<unknown>;
  const call = (...given: unknown[]) =>
    left-- > 0 ? TROUBLE[kind](() => answer(...given), clock) : answer(...given);
  return { ...deadLetters, [method]: call };
}

describe.each(METHODS)('a redrive, when %s() of the dead letters', (method) => {
  /** One of three dead letters fails again, so that it is given back, and one is gone. */
  const begin = async (kind: keyof typeof TROUBLE, times: number, signal?: AbortSignal) => {
    const clock = fastClock();
    const { receiver, deadLetters, runs } = setup({ works: (key) => key !== failing });
    const [, second] = await fill(deadLetters, 3);
    const failing = second!.key;
    const retries: StoreRetry[] = [];
    const ids = method === 'get' ? ['gone'] : undefined;
    const redriving = redrive({
      ...{ receiver, ids, clock, signal, concurrency: 1 },
      deadLetters: troubled(deadLetters, method, kind, clock, times),
      onRetry: (retry) => void retries.push(retry),
    });
    return { clock, deadLetters, runs, retries, redriving };
  };

  it.each(Object.keys(TROUBLE) as (keyof typeof TROUBLE)[])(
    '%s three times, goes on after three pauses, runs every event once, and leaves no timer',
    async (kind) => {
      const { clock, deadLetters, runs, retries, redriving } = await begin(kind, 3);
      const result = await redriving;
      expect(retries.map(({ failures, pauseMs }) => [failures, pauseMs])).toEqual([
        ...[
          [1, 500],
          [2, 1_000],
          [3, 1_500],
        ],
      ]);
      expect(retries.every(({ error }) => error instanceof Error)).toBe(true);
      if (method === 'get') expect(result).toMatchObject({ notFound: 1 });
      else {
        expect(result).toMatchObject({ handled: 2, failed: 1, skipped: 0, unknown: 0 });
        expect(new Set(runs).size).toBe(runs.length);
        const { letters } = await deadLetters.list();
        expect(letters).toHaveLength(1);
        expect(letters[0]).not.toHaveProperty('claimedUntil');
        expect(letters[0]!.history).toHaveLength(2);
      }
      expect(clock.pending()).toBe(0);
    },
  );

  it('fails for good, rejects with its error after ten more calls, and loses nothing', async () => {
    const { clock, deadLetters, retries, redriving } = await begin('rejects', Infinity);
    await expect(redriving).rejects.toThrow('connection refused');
    expect(retries).toHaveLength(10);
    expect(clock.now()).toBe(27_500);
    expect(await deadLetters.count()).toBeGreaterThanOrEqual(1);
    expect(clock.pending()).toBe(0);
  });

  it('fails and it is stopped, ends its pause', async () => {
    const controller = new AbortController();
    const stopped = deferred();
    const listenersBefore = getEventListeners(controller.signal, 'abort').length;
    const { redriving, clock, retries } = await begin('rejects', Infinity, controller.signal);
    clock.at(1_200, () => {
      controller.abort();
      stopped.resolve();
    });
    await stopped.promise;
    await expect(redriving).rejects.toThrow('connection refused');
    expect(retries).toHaveLength(2);
    expect(clock.now()).toBe(1_200);
    expect(clock.pending()).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(listenersBefore);
  });
});

describe('a redrive', () => {
  it('survives an outage of the store of the events, and keeps its claim meanwhile', async () => {
    const clock = fastClock();
    const store = memoryStore();
    let failures = 4;
    const admit: typeof store.admit = (claim) =>
      failures-- > 0 ? Promise.reject(new Error('connection refused')) : store.admit(claim);
    const { receiver, deadLetters, runs } = setup({ store: { ...store, admit } });
    await fill(deadLetters, 3);
    const retries: StoreRetry[] = [];
    const onRetry = (retry: StoreRetry) => void retries.push(retry);
    const options = { receiver, deadLetters, clock, onRetry, concurrency: 1 };
    expect(await redrive(options)).toMatchObject({ handled: 3 });
    expect(runs).toHaveLength(3);
    expect(retries).toHaveLength(4);
  });

  it.each(['rejects', 'does it, and loses the answer'] as const)(
    'runs no event twice because its commit failed once (%s)',
    async (kind) => {
      const store = memoryStore();
      let left = 1;
      const complete: typeof store.complete = async (...given) => {
        if (left-- <= 0) return store.complete(...given);
        if (kind !== 'rejects') await store.complete(...given);
        throw new Error('connection reset');
      };
      const { receiver, deadLetters, runs } = setup({ store: { ...store, complete } });
      await fill(deadLetters, 1);
      expect(await redrive({ receiver, deadLetters })).toMatchObject({ handled: 1 });
      expect(runs).toHaveLength(1);
      expect(await deadLetters.count()).toBe(0);
    },
  );

  it('stops when the store of the events stays down, and loses nothing', async () => {
    const store = memoryStore();
    const down = { ...store, admit: () => Promise.reject(new Error('connection refused')) };
    const { receiver, deadLetters } = setup({ store: down });
    await fill(deadLetters, 5);
    const redriving = redrive({ receiver, deadLetters, concurrency: 1, clock: fastClock() });
    await expect(redriving).rejects.toMatchObject({ code: 'store-unavailable' });
    const { letters } = await deadLetters.list();
    expect(letters.map(({ history }) => history.length)).toEqual([1, 1, 1, 1, 1]);
    expect(letters.filter(({ claimedUntil }) => claimedUntil)).toEqual([]);
    const after = setup();
    expect(await redrive({ receiver: after.receiver, deadLetters })).toMatchObject({ handled: 5 });
  });

  it.each(['overloaded', 'store-unavailable'] as const)(
    'of a receiver that takes nothing (%s) ends its pause when it is stopped, and keeps the letter',
    async (outcome) => {
      const { deadLetters } = setup();
      await fill(deadLetters, 2);
      const clock = fastClock();
      const controller = new AbortController();
      let delivered = 0;
      const deliver = async () => {
        delivered += 1;
        return { outcome };
      };
      const redriving = redrive({
        ...{ receiver: { deliver: deliver as never }, deadLetters, clock, concurrency: 1 },
        signal: controller.signal,
      });
      clock.at(1_200, () => controller.abort());
      await expect(redriving).rejects.toThrow(outcome);
      expect([clock.now(), delivered]).toEqual([1_200, 3]);
      const { letters } = await deadLetters.list();
      expect(letters.map(({ claimedUntil }) => claimedUntil)).toEqual([undefined, undefined]);
      expect(clock.pending()).toBe(0);
    },
  );

  it('of a receiver that closes ends at once, without repeating anything', async () => {
    const { receiver, deadLetters } = setup();
    await fill(deadLetters, 2);
    await receiver.close();
    const clock = fastClock();
    const redriving = redrive({ receiver, deadLetters, clock });
    await expect(redriving).rejects.toMatchObject({ code: 'shutting-down' });
    expect(clock.now()).toBe(0);
    expect((await deadLetters.list()).letters.filter(({ claimedUntil }) => claimedUntil)).toEqual(
      [],
    );
  });

  it('does not repeat what no repetition mends: an option that the store refuses', async () => {
    const { receiver, deadLetters } = setup();
    const clock = fastClock();
    const filter = { until: 'now' } as never;
    const redriving = redrive({ receiver, deadLetters, filter, clock });
    await expect(redriving).rejects.toMatchObject({ code: 'invalid-options' });
    expect(clock.now()).toBe(0);
  });

  it('says that nothing is known of a dead job whose requeue lost its answer', async () => {
    const { deadLetters } = setup();
    await fill(deadLetters, 1);
    let calls = 0;
    const requeue = () =>
      ++calls === 1 ? Promise.reject(new Error('connection reset')) : Promise.resolve(false);
    const told: RedriveProgress[] = [];
    const onProgress = (progress: RedriveProgress) => void told.push(progress);
    const clock = fastClock();
    const deadJobs = { ...deadLetters, requeue };
    const onRetry = jest.fn();
    expect(await redrive({ deadJobs, clock, onProgress, onRetry })).toMatchObject({
      ...{ unknown: 1, queued: 0 },
    });
    expect(told).toMatchObject([{ result: 'unknown' }]);
    expect(onRetry.mock.calls).toEqual([
      [{ error: new Error('connection reset'), failures: 1, pauseMs: 500 }],
    ]);
  });

  it('ends for a store whose list never ends', async () => {
    const { receiver, deadLetters } = setup();
    await fill(deadLetters, 1);
    let pages = 0;
    const list = async () => {
      if ((pages += 1) > 9) throw new Error('the list was read on and on');
      return { ...(await deadLetters.list()), cursor: 'again' };
    };
    const redriving = redrive({ receiver, deadLetters: { ...deadLetters, list } });
    await expect(redriving).rejects.toThrow('repeats the cursor');
  });

  it.each([
    ['fail', 'rejects', 3_000],
    ['hang', 'hangs', 3_500], // each one gets a sixth of the claim
  ] as const)(
    'runs on while renewals %s, and gives the handler up once its claim has run out',
    async (_what, kind, at) => {
      const clock = fastClock();
      const started = deferred();
      const receiver = createReceiver({
        secret: generateSecret(),
        logger: { warn: () => undefined, error: () => undefined },
        on: {
          'call:completed': (_event, { signal }) =>
            new Promise((_resolve, reject) => {
              started.resolve();
              signal.addEventListener('abort', () => reject(new Error('given up')));
            }),
        },
      });
      const { deadLetters } = setup();
      await fill(deadLetters, 1);
      const down = troubled(deadLetters, 'extend', kind, clock, Infinity);
      const retries: StoreRetry[] = [];
      const onRetry = (retry: StoreRetry) => void retries.push(retry);
      const redriving = redrive({ receiver, deadLetters: down, leaseFor: 3_000, clock, onRetry });
      await started.promise;
      expect(await redriving).toMatchObject({ failed: 1 });
      expect(retries).toMatchObject([1_000, 1_000, 1_000].map((pauseMs) => ({ pauseMs })));
      expect(clock.now()).toBe(at);
      await receiver.close();
    },
  );
});

describe('the claim of a redrive, once the store of dead letters is down', () => {
  const LEASE_MS = 3_000;

  /** Runs one letter until its handler is told to stop, and tells when that was. */
  async function toldAt(
    clock: ReturnType<typeof fastClock>,
    down: (deadLetters: DeadLetters) => Partial<DeadLetters>,
  ): Promise<number> {
    const told = deferred<number>();
    const receiver = createReceiver({
      secret: generateSecret(),
      logger: { warn: () => undefined, error: () => undefined },
      on: {
        'call:completed': (_event, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              told.resolve(clock.now());
              reject(new Error('given up'));
            });
          }),
      },
    });
    const { deadLetters } = setup();
    await fill(deadLetters, 1);
    await redrive({
      ...{ receiver, clock, leaseFor: LEASE_MS },
      deadLetters: { ...deadLetters, ...down(deadLetters) },
    });
    await receiver.close();
    return told.promise;
  }

  const later = (clock: ReturnType<typeof fastClock>, ms: number) =>
    new Promise<void>((resolve) => void clock.schedule(ms, resolve));
  const refuse = () => Promise.reject(new Error('connection refused'));

  it('ends with the lease of the last renewal, which began when that was sent', async () => {
    const clock = fastClock();
    let renewedAt: number | undefined;
    const at = await toldAt(clock, () => ({
      async extend() {
        if (renewedAt !== undefined) return refuse();
        renewedAt = clock.now();
        await later(clock, 400);
        return true;
      },
    }));
    expect(at - renewedAt!).toBe(LEASE_MS);
  });

  it('ends with the lease of the claim, which began when that was sent', async () => {
    const clock = fastClock();
    let claimedAt: number | undefined;
    const at = await toldAt(clock, (deadLetters) => ({
      async claim(...given) {
        claimedAt = clock.now();
        const letter = await deadLetters.claim(...given);
        await later(clock, 900);
        return letter;
      },
      extend: refuse,
    }));
    expect(at - claimedAt!).toBe(LEASE_MS);
  });
});
