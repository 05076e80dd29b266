import { describe, expect, it } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import { memoryStore, type Store } from '@call-webhooks/core';
import { startReconciler } from '../../src/index.ts';
import { fastClock, type FastClock } from '../support/fast-clock.ts';

const LEASE_MS = 60_000;
const logger = { warn: () => undefined, error: () => undefined };

/**
 * Runs a reconciler against a service that never responds, until its run is told to stop.
 * @returns when that was, and why
 */
async function toldAt(clock: FastClock, down: (store: Store) => Partial<Store>) {
  const told = deferred<{ at: number; why: string }>();
  const store = { ...memoryStore({ now: clock.now }), rememberFor: 86_400_000 };
  const list = (_query: unknown, signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        const { message: why } = signal.reason as Error;
        told.resolve({ at: clock.now(), why });
        reject(signal.reason as Error);
      });
    });
  const reconciler = startReconciler({
    client: {
      baseUrl: 'http://service',
      calls: {
        list: (query) => list(query, query?.signal ?? new AbortController().signal),
        recording: () => Promise.reject(new Error('not asked for')),
      },
    },
    receiver: { deliver: () => Promise.reject(new Error('not asked for')) },
    ...{ clock, logger, store: { ...store, ...down(store) } },
    since: new Date(clock.now() - 3_600_000),
  });
  const stopped = await told.promise;
  await reconciler.close();
  return stopped;
}

const later = (clock: FastClock, ms: number) =>
  new Promise<void>((resolve) => void clock.schedule(ms, resolve));
const refuse = () => Promise.reject(new Error('connection refused'));
const RAN_OUT = 'The lease ran out, since it could not be renewed.';

describe('the lease of a run, once the store is down', () => {
  it('ends when it would have ended, had the store given it when it was asked', async () => {
    const clock = fastClock(1_000_000_000_000);
    let askedAt = NaN;
    const { at, why } = await toldAt(clock, (store) => ({
      async admit(claim) {
        askedAt = clock.now();
        const admitted = await store.admit(claim);
        await later(clock, 9_000);
        return admitted;
      },
      extend: refuse,
    }));
    expect([at - askedAt, why]).toEqual([LEASE_MS, RAN_OUT]);
  });

  it('ends with its last renewal, which began when that was sent', async () => {
    const clock = fastClock(1_000_000_000_000);
    const renewedAt: number[] = [];
    const { at, why } = await toldAt(clock, () => ({
      async extend() {
        if (renewedAt.length === 2) return refuse();
        renewedAt.push(clock.now());
        await later(clock, 5_000);
        return true;
      },
    }));
    expect([at - renewedAt[1]!, why]).toEqual([LEASE_MS, RAN_OUT]);
  });

  it('is lost at once when the store says that another process has it', async () => {
    const clock = fastClock(1_000_000_000_000);
    let askedAt = NaN;
    const { at, why } = await toldAt(clock, () => ({
      extend: () => {
        askedAt = clock.now();
        return Promise.resolve(false);
      },
    }));
    expect([at - askedAt, why]).toEqual([0, 'Another process has taken the lease.']);
  });
});
