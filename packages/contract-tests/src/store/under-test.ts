import type { Claim, Store } from '@call-webhooks/core';

export interface OpenedStore {
  store: Store;
  /** The same store over further connections, where it has some: races are run over all of them. */
  others?: Store[];
  /** The clock of the store; milliseconds since the epoch. */
  now(): number;
  /** Moves the store's clock on by milliseconds, or makes everything in it that much older. */
  turn(ms: number): Promise<void> | void;
  close?(): Promise<void>;
}

export interface StoreUnderTest {
  name: string;
  /** A fresh store. */
  open(): Promise<OpenedStore>;
}

/** What the battery's parts work with. */
export interface StoreBench {
  store(): Store;
  /** Store after store, for racing claims: over all connections in turn. */
  all(): Store[];
  /** A claim under a new webhook id and a new token. */
  claim(key: string | undefined, more?: Partial<Claim>): Claim;
  turn(ms: number): Promise<void>;
}

/** Until when the claims of the battery are remembered, and how much later they must be forgotten. */
export const REMEMBER_MS = 600_000;
/** Stores may remember webhook ids for longer than asked, by this much. */
export const SLACK_MS = 120_000;
/** The leases of the battery. */
export const LEASE_MS = 60_000;
