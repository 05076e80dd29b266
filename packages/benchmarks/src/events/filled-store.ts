import { createHash, randomUUID } from 'node:crypto';
import type { Claim, Store } from '@call-webhooks/core';
import type { Path } from '../stores/load.ts';

/** A store that remembers many handled events, and the webhook ids of the latest. */
export interface FilledStore {
  readonly store: Store;
  /** One of them. */
  readonly known: { readonly webhookId: string; readonly key: string };
  /** Memory or disk, with indexes and webhook ids. */
  readonly bytesPerEvent: number;
  /** How many events it remembers, those that expired but were not swept yet included. */
  count(): Promise<number>;
  /**
   * Lets the oldest events expire, so that they are swept beside the next deliveries. In Redis, where
   * the server sweeps when it likes, they are gone at once.
   */
  expire(number: number): Promise<unknown>;
}

/** A database that can hold filled stores of several sizes, apart from each other. */
export interface Database {
  fill(size: number): Promise<FilledStore>;
  stop(): Promise<unknown>;
}

const DAY_MS = 86_400_000;
/** At most; a webhook id is remembered for as long as its signature verifies. */
const REPLAY_MS = 600_000;

/** How many webhook ids a store remembers beside so many events, which it remembers for a day. */
export const idsBeside = (events: number): number => Math.ceil((events * REPLAY_MS) / DAY_MS);

/** The event with this number; the Redis store is filled with the same names. */
export function eventNumber(number: number): { webhookId: string; key: string } {
  const hash = createHash('sha1').update(String(number)).digest('hex');
  return { webhookId: hash.slice(0, 36), key: `${hash.slice(0, 24)}:call:completed` };
}

const claimOf = (event: { webhookId: string; key: string }): Claim => ({
  ...event,
  token: randomUUID(),
  leaseMs: 60_000,
  replayUntil: Date.now() + DAY_MS, // later than those that were filled in: they expire in order
});

/** New events, admitted and completed. */
export function newEvents(store: Store, size: number): Path {
  let last = size;
  return {
    prepare: (number) =>
      Array.from({ length: number }, () => {
        const claim = claimOf(eventNumber(last++));
        return async () => {
          const { status } = await store.admit(claim);
          if (status !== 'admitted') throw new Error(`A new event is ${status}.`);
          if (!(await store.complete(claim.key as string, claim.token)))
            throw new Error('The lease of a new event was lost.');
        };
      }),
  };
}

/**
 * What was filled in has to be what the store itself would have written.
 * @throws Error when the store does not have so many events, or does not know them
 */
export async function checkFilled(filled: FilledStore, size: number): Promise<void> {
  const { store, known } = filled;
  const count = await filled.count();
  if (count !== size) throw new Error(`${String(count)} of ${String(size)} events are there.`);
  const replay = await store.admit(claimOf(known));
  const duplicate = await store.admit(claimOf({ ...known, webhookId: randomUUID() }));
  if (replay.status === 'replayed' && duplicate.status === 'duplicate') return;
  throw new Error(`A filled event is ${replay.status} and ${duplicate.status}.`);
}
