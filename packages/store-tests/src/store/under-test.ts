import type { Store } from '@call-webhooks/core';
import type { Claim } from '@call-webhooks/core/stores';
import { namesOf, type OptionalMembers } from '../optional-members.ts';
import type { Refusals } from '../refusals.ts';
import type { Tests } from '../runner.ts';

export interface OpenedStore {
  store: Store;
  /** The same store over more connections, if it can have several. Races run over all of them. */
  others?: Store[];
  /** The store's clock, in milliseconds since the epoch. */
  now(): number;
  /** Moves the store's clock forward by `ms`, or makes everything in the store that much older. */
  advance(ms: number): Promise<void> | void;
  /** Ways in which the database rejects the writes of a claim. */
  refusals?: Refusals;
  /**
   * The number of rows, keys or documents in the store. If the store deletes expired ones with its own
   * timer or job, `advance` does this instead.
   */
  size?(): Promise<number>;
  /** The same store as seen by a receiver whose clock is `ms` milliseconds ahead of the store's. */
  skewed?(ms: number): Store;
  /**
   * `true` marks the tables as migrated by a newer release, and `false` takes the mark back. Leave it out
   * if the tables have no version.
   */
  setNewer?(isNewer: boolean): Promise<void> | void;
  close?(): Promise<void>;
}

/** A transaction of a user, with a table of effects. */
export interface TransactionUnderTest {
  tx: unknown;
  /** Has an effect. */
  write(effect: string): Promise<unknown>;
}

/** Transactions of a client on the store's database. */
export interface Effects {
  /**
   * The pool or client that begins the transactions. What users may pass by mistake: a statement that
   * runs on it is committed at once, so `completeIn` must refuse it.
   */
  client: unknown;
  /** Commits when `work` resolves; rolls back, and rejects, when it rejects. */
  transact(work: (transaction: TransactionUnderTest) => Promise<void>): Promise<void>;
  /** How often an effect was committed. */
  committed(effect: string): Promise<number>;
}

export interface UnderTest<Opened> {
  name: string;
  /** Opens a new, empty one. */
  open(): Promise<Opened>;
}

/** What the type `Store` leaves to a store: each is tested, unless the store says that it has none. */
export type OptionalStoreMember = Exclude<
  OptionalMembers<Store>,
  'close' | 'name' | 'rememberFor' | 'completeIn' // has tests of its own, with the transactions of a client
>;

/** The names of these members. */
export const OPTIONAL_STORE_MEMBERS = namesOf<OptionalStoreMember>({
  forget: true,
  loadCursor: true,
  log: true,
  peek: true,
  ping: true,
  reopen: true,
  saveCursor: true,
});

/** A store, and what it can do without. */
export interface StoreUnderTest extends UnderTest<OpenedStore> {
  /**
   * The optional members of `Store` that the store lacks. Also, `clock`: it has no clock of its own, but
   * that of its receivers. `refusals`: nothing that it needs can refuse to be written, as with a store
   * in memory. `size`: nobody can tell how much it holds.
   */
  without?: readonly (OptionalStoreMember | 'clock' | 'refusals' | 'size')[];
}

/** What a group of contract tests works with. */
export interface StoreTestContext extends Pick<Tests, 'it'> {
  store(): Store;
  /** Whether the store has this optional member. */
  has(member: OptionalStoreMember): boolean;
  /** The store over each of its connections. */
  connections(): Store[];
  /** A claim with a new webhook id and a new token. */
  claim(key: string | undefined, more?: Partial<Claim>): Claim;
  /** The store's clock, in milliseconds since the epoch. */
  now(): number;
  advance(ms: number): Promise<void>;
  /** `false` for a store whose tables have no version. */
  setNewer(isNewer: boolean): Promise<boolean>;
}

/** How long the tests ask for a webhook id to be remembered; milliseconds. */
export const REMEMBER_MS = 600_000;
/** How much longer than that a store may remember it; milliseconds. */
export const SLACK_MS = 120_000;
/** The lease that the tests ask for; milliseconds. */
export const LEASE_MS = 60_000;
