import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { memoryStore } from '../../src/index.ts';
import { NOW, runs, SEED } from '../support.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LEASE_MS = MINUTE;
const REMEMBER_FOR = 24 * HOUR;
const KEYS = 12;

interface PlainEvent {
  failures: number;
  /** When the event was handled, or failed last. */
  endedAt: number;
  done: boolean;
  lease?: { token: string; until: number } | undefined;
}

/** What a store has to know of events, in the plainest way: nothing is ever thrown away. */
class PlainModel {
  readonly #events = new Map<number, PlainEvent>();

  /** The event at this time, with a lease that ran out counted as a failure. */
  at(key: number, now: number): PlainEvent {
    const event = this.#events.get(key) ?? { failures: 0, endedAt: now, done: false };
    this.#events.set(key, event);
    if (event.lease && event.lease.until <= now) {
      event.failures += 1;
      event.endedAt = event.lease.until;
      event.lease = undefined;
    }
    return event;
  }

  end(event: PlainEvent, now: number, done: boolean): void {
    event.lease = undefined;
    event.endedAt = now;
    event.done = done;
    if (!done) event.failures += 1;
  }

  forget(key: number): void {
    this.#events.delete(key);
  }
}

const step = fc.record({
  key: fc.nat(KEYS - 1),
  call: fc.constantFrom('admit', 'admit', 'admit', 'complete', 'release', 'release', 'extend'),
  wait: fc.oneof(
    { weight: 12, arbitrary: fc.nat(5 * MINUTE) },
    { weight: 1, arbitrary: fc.nat(26 * HOUR) },
  ),
});

it('agrees with a plain model in long runs with failures, below its limits', async () => {
  const run = fc.array(step, { minLength: 300, maxLength: 1_500, size: 'max' });
  await fc.assert(
    fc.asyncProperty(run, async (steps) => {
      let now = NOW;
      const evicted: string[] = [];
      const store = memoryStore({
        maxEntries: 100,
        rememberFor: REMEMBER_FOR,
        now: () => now,
        onEvicted: ({ kind }) => evicted.push(kind),
      });
      const model = new PlainModel();
      for (const [index, { key, call, wait }] of steps.entries()) {
        now += wait;
        const event = model.at(key, now);
        const name = `event-${key}`;
        const token = event.lease?.token ?? 'nobody';
        if (call === 'extend') {
          expect(await store.extend(name, token, LEASE_MS)).toBe(event.lease !== undefined);
          if (event.lease) event.lease.until = now + LEASE_MS;
        } else if (call !== 'admit') {
          expect(await store[call](name, token)).toBe(event.lease !== undefined);
          if (event.lease) model.end(event, now, call === 'complete');
        } else {
          const claim = { webhookId: `id-${index}`, token: `token-${index}`, key: name };
          const times = { leaseMs: LEASE_MS, replayUntil: now + 10 * MINUTE };
          const admission = await store.admit({ ...claim, ...times });
          // What is older than this may be forgotten, and need not be.
          const mayForget = now - event.endedAt > REMEMBER_FOR;
          if (event.lease) expect(admission).toEqual({ status: 'in-progress' });
          else if (event.done && !mayForget) expect(admission).toEqual({ status: 'duplicate' });
          else if (admission.status === 'admitted') {
            const known = { status: 'admitted', attempt: event.failures + 1 };
            if (!mayForget) expect(admission).toEqual(known);
            if (admission.attempt === 1) model.forget(key);
            model.at(key, now).lease = { token: claim.token, until: now + LEASE_MS };
          } else expect([admission.status, mayForget]).toEqual(['duplicate', true]);
        }
      }
      expect(evicted.filter((kind) => kind === 'event')).toEqual([]);
    }),
    { seed: SEED, numRuns: runs(10) },
  );
});

it('remembers done events while a few others fail again and again for a day', async () => {
  let now = NOW;
  const evicted: string[] = [];
  const store = memoryStore({
    maxEntries: 1_000,
    rememberFor: 7 * REMEMBER_FOR,
    now: () => now,
    onEvicted: ({ kind }) => evicted.push(kind),
  });
  let count = 0;
  const admit = (key: string) => {
    const id = String(++count);
    const times = { leaseMs: LEASE_MS, replayUntil: now + 10 * MINUTE };
    return store.admit({ webhookId: id, token: `token-${id}`, key, ...times });
  };
  const done = Array.from({ length: 900 }, (_none, index) => `done-${index}`);
  for (const key of done) {
    await admit(key);
    await store.complete(key, `token-${count}`);
    now += 2_000;
  }
  // Ten events that fail with every retry: a day, some 2,900 failed attempts.
  for (let retry = 0; retry < 288; retry++) {
    now += 5 * MINUTE;
    for (let failing = 0; failing < 10; failing++) {
      expect((await admit(`failing-${failing}`)).status).toBe('admitted');
      expect(await store.release(`failing-${failing}`, `token-${count}`)).toBe(true);
    }
  }
  expect(evicted).toEqual([]);
  for (const key of done) expect(await admit(key)).toEqual({ status: 'duplicate' });
});
