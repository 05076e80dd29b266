import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  type DeadLetter,
  memoryDeadLetters,
  memoryStore,
  type QueuedDelivery,
  type ReceiverOptions,
} from '../../src/index.ts';
import { useLateClock } from '../late-clock.ts';
import { bytes, createTestReceiver, delivery, STARTED } from '../support.ts';

/** How one call of a store, a queue or a dead-letter sink can go wrong. Later calls of it succeed. */
const FAULTS = [
  'throws',
  'rejects',
  'hangs',
  'answers late',
  'answers oddly',
  'loses its answer',
] as const;
type Fault = (typeof FAULTS)[number];

/** Whether the call has its effect although the caller was not told so. */
const hasEffect = (fault: Fault) => !['throws', 'rejects', 'hangs'].includes(fault);

const LATE_MS = 1_500;
const STORE_TIMEOUT_MS = 1_000;
const LEASE_MS = 30_000;

/** A method whose first call goes wrong. */
function failsOnce<Args extends unknown[], Answer>(
  method: (...args: Args) => Promise<Answer>,
  fault: Fault,
): (...args: Args) => Promise<Answer> {
  let isFirst = true;
  return (...args) => {
    if (!isFirst) return method(...args);
    isFirst = false;
    switch (fault) {
      case 'throws':
        throw new Error('thrown');
      case 'rejects':
        return Promise.reject(new Error('rejected'));
      case 'hangs':
        return new Promise(() => undefined);
      case 'answers late':
        return method(...args).then(
          (answer) => new Promise((resolve) => setTimeout(resolve, LATE_MS, answer)),
        );
      case 'answers oddly':
        return method(...args).then(() => ({ oddly: true }) as Answer);
      case 'loses its answer':
        return method(...args).then(() => Promise.reject(new Error('the connection was closed')));
    }
  };
}

/** The methods of a store that a delivery calls. */
type Method = 'admit' | 'complete' | 'release' | 'extend' | 'reopen';

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', onUnhandled);
});
afterEach(async () => {
  await jest.advanceTimersByTimeAsync(10_000);
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled).toEqual([]);
});
useLateClock();

/** A receiver with ports that go wrong, whose handler fails as often as it is told to. */
function create(options: Partial<ReceiverOptions<never, never>>) {
  const handler = { runs: 0, failures: 0, lasts: 0 };
  const made = createTestReceiver({
    now: undefined,
    storeTimeout: STORE_TIMEOUT_MS,
    leaseFor: LEASE_MS,
    on: {
      'call:started': async () => {
        handler.runs += 1;
        if (handler.lasts > 0) await new Promise((resolve) => setTimeout(resolve, handler.lasts));
        if (handler.runs <= handler.failures) throw new Error('no');
      },
    },
    ...options,
  });
  /** Sends the event once more, and waits long enough for everything but a lease. */
  async function attempt(): Promise<string> {
    const timestamp = Math.floor(Date.now() / 1_000);
    const sent = made.receiver.receive(await delivery(STARTED, { timestamp }));
    await jest.advanceTimersByTimeAsync(handler.lasts + 2 * LATE_MS);
    return (await sent).outcome.outcome;
  }
  return { ...made, handler, attempt };
}

/** A receiver on a store of which the first call of a method goes wrong. */
function onStore(
  method: Method,
  fault: Fault,
  options: Partial<ReceiverOptions<never, never>> = {},
) {
  const store = memoryStore();
  const call = store[method] as (...args: unknown[]) => Promise<unknown>;
  return create({ store: { ...store, [method]: failsOnce(call, fault) }, ...options });
}

describe.each(FAULTS)('a call that %s', (fault) => {
  it('admit: nothing runs, and the event is free for its next attempt', async () => {
    const { attempt, handler, outcomes } = onStore('admit', fault);
    expect(await attempt()).toBe('store-unavailable');
    expect(handler.runs).toBe(0);
    expect(await attempt()).toBe('handled');
    expect(await attempt()).toBe('duplicate');
    expect(outcomes).toHaveLength(3);
  });

  it('complete: the event is known as done, or runs again once its lease has ended', async () => {
    const { attempt, handler } = onStore('complete', fault);
    expect(await attempt()).toBe('store-unavailable');
    if (!hasEffect(fault)) {
      expect(await attempt()).toBe('in-progress');
      await jest.advanceTimersByTimeAsync(LEASE_MS);
      expect(await attempt()).toBe('handled');
    }
    expect(await attempt()).toBe('duplicate');
    expect(handler.runs).toBe(hasEffect(fault) ? 1 : 2);
  });

  /** Runs the event as operators do, and waits long enough for everything but a lease. */
  async function deliver(
    receiver: ReturnType<typeof onStore>['receiver'],
    source: 'redrive' | 'reconcile',
  ) {
    // With an id of its own, a letter needs no hash, whose time no clock controls.
    const delivery = { rawBody: bytes(JSON.stringify(STARTED)), id: 'letter-1' };
    const delivered = receiver.deliver(delivery, { source });
    await jest.advanceTimersByTimeAsync(2 * LATE_MS);
    return (await delivered).outcome;
  }
  const SOURCES = ['redrive', 'reconcile'] as const;

  it.each(SOURCES)(
    'complete, at a %s: the event is known as done, and does not run again',
    async (source) => {
      const { receiver, handler } = onStore('complete', fault);
      expect(await deliver(receiver, source)).toBe('handled');
      expect(await deliver(receiver, source)).toBe('duplicate');
      expect(handler.runs).toBe(1);
    },
  );

  it.each(SOURCES)(
    'complete, at a %s that fails: the event is known as a dead letter, and is kept once',
    async (source) => {
      const deadLetter = memoryDeadLetters();
      const made = onStore('complete', fault, { deadLetter, maxAttempts: 1 });
      made.handler.failures = Infinity;
      expect(await deliver(made.receiver, source)).toBe('dead-lettered');
      expect(await made.attempt()).toBe('in-dead-letters');
      expect([made.handler.runs, await deadLetter.count()]).toEqual([1, 1]);
    },
  );

  it('release: the response is that of the failed handler, and the event runs again', async () => {
    const { attempt, handler, outcomes } = onStore('release', fault);
    handler.failures = 1;
    expect(await attempt()).toBe('handler-failed');
    if (!hasEffect(fault)) {
      expect(await attempt()).toBe('in-progress');
      await jest.advanceTimersByTimeAsync(LEASE_MS);
    }
    expect(await attempt()).toBe('handled');
    expect(outcomes.at(-1)).toMatchObject({ attempt: 2 });
  });

  it('extend: the handler goes on, its lease is renewed the next time, and the event is done', async () => {
    const { attempt, handler } = onStore('extend', fault, { ackWithin: 29_000 });
    handler.lasts = LEASE_MS - 5_000;
    expect(await attempt()).toBe('handled');
    handler.lasts = 0;
    expect(await attempt()).toBe('duplicate');
    expect(handler.runs).toBe(1);
  });

  it('reopen: a redrive that fails can be repeated, and runs the event once', async () => {
    const deadLetter = memoryDeadLetters();
    const { attempt, handler, receiver } = onStore('reopen', fault, { deadLetter, maxAttempts: 1 });
    handler.failures = 1;
    expect(await attempt()).toBe('dead-lettered');
    const [listed] = (await deadLetter.list()).letters;
    const letter = (await deadLetter.get(listed!.id))!;
    const redrive = async () => {
      const delivered = receiver.deliver(letter);
      await jest.advanceTimersByTimeAsync(2 * LATE_MS);
      return (await delivered).outcome;
    };
    const first = await redrive();
    // Whether a letter was reopened matters to nobody: `admit` decides.
    expect(first).toBe(fault === 'answers oddly' ? 'handled' : 'store-unavailable');
    expect(await redrive()).toBe(first === 'handled' ? 'duplicate' : 'handled');
    expect(handler.runs).toBe(2);
  });

  it('ping: health() says that the store is down, and never rejects', async () => {
    const store = memoryStore();
    const { receiver } = create({ store: { ...store, ping: failsOnce(store.ping!, fault) } });
    const check = receiver.health();
    await jest.advanceTimersByTimeAsync(2 * LATE_MS);
    const isUp = fault === 'answers oddly';
    expect(await check).toMatchObject({ ok: isUp, store: { status: isUp ? 'up' : 'down' } });
    expect(await receiver.health()).toMatchObject({ ok: true });
  });

  it('log.append: deliveries notice nothing', async () => {
    const store = memoryStore();
    const log = { ...store.log!, append: failsOnce(store.log!.append, fault) };
    const { attempt, receiver } = create({ store: { ...store, log } });
    expect(await attempt()).toBe('handled');
    expect(await attempt()).toBe('duplicate');
    const closed = receiver.close({ graceMs: 0 });
    await jest.advanceTimersByTimeAsync(2 * LATE_MS);
    await closed;
    const counts = [...(await store.log!.counts('minutes', 0, Infinity)).values()];
    const sum = (name: string) => counts.reduce((total, of) => total + (of[name] ?? 0), 0);
    // A batch whose answer was lost is written again, and counts once.
    expect(sum('outcome/webhook/handled/call:started')).toBe(1);
    expect(sum('outcome/webhook/duplicate/call:started')).toBe(1);
  });

  it('enqueue: 503, and the next attempt is enqueued under the same key', async () => {
    const queued: QueuedDelivery[] = [];
    const enqueue = failsOnce(async (job: QueuedDelivery) => void queued.push(job), fault);
    const { attempt, handler } = create({ queue: { enqueue } });
    const isAccepted = fault === 'answers oddly'; // it resolved
    expect(await attempt()).toBe(isAccepted ? 'queued' : 'store-unavailable');
    expect(await attempt()).toBe(isAccepted ? 'duplicate' : 'queued');
    expect(await attempt()).toBe('duplicate');
    const isTwice = hasEffect(fault) && !isAccepted;
    const key = 'call-1:call:started';
    expect(queued.map((job) => job.key)).toEqual(isTwice ? [key, key] : [key]);
    expect(handler.runs).toBe(0);
  });

  it('deadLetter: the event is acknowledged only once it is kept', async () => {
    const deadLetter = memoryDeadLetters();
    // With an id of its own, a letter needs no hash, whose time no clock controls.
    const put = failsOnce(
      (letter: DeadLetter) => deadLetter.put({ ...letter, id: 'letter-1' }),
      fault,
    );
    const { attempt, handler } = create({
      deadLetter: { ...deadLetter, put },
      maxAttempts: 1,
      ackWithin: 2_000,
    });
    handler.failures = Infinity;
    const first = await attempt();
    expect(first).toBe(
      {
        throws: 'handler-failed',
        rejects: 'handler-failed',
        hangs: 'deadline',
        'answers late': 'dead-lettered',
        'answers oddly': 'dead-lettered',
        'loses its answer': 'handler-failed',
      }[fault],
    );
    // No lease lasts longer than 240 s, whatever the sink does, so the retry finds the event free.
    if (fault === 'hangs') await jest.advanceTimersByTimeAsync(241_000 + LEASE_MS);
    expect(await attempt()).toBe(first === 'dead-lettered' ? 'in-dead-letters' : 'dead-lettered');
    expect(await deadLetter.count()).toBe(1);
    expect(await attempt()).toBe('in-dead-letters');
  });
});
