import type { EventState, OutcomeLog } from './outcome-log.ts';

/** A request to run an event: all that `admit` needs to decide. */
export interface Claim {
  webhookId: string;
  /** Until when the webhook id must be remembered; milliseconds since the epoch. */
  replayUntil: number;
  /** The event's idempotency key. Without one, only the webhook id is checked and remembered. */
  key?: string | undefined;
  /** How long the lease lasts unless it is extended; milliseconds. */
  leaseMs: number;
  /** A new token for every claim. A second call with the same token is a retry of the same claim. */
  token: string;
  /**
   * The events of a group run one at a time: while another event of the group holds a lease, the answer
   * is `group-busy`. A claim with a group always has a key. A store without groups must throw.
   */
  group?: string | undefined;
  /**
   * How long the receiver waits for the answer, in milliseconds. A store need not send a command that
   * would be too late.
   */
  within?: number | undefined;
}

/** The answer to a claim. */
export type Admission =
  /** The claim holds the lease until it expires. `attempt` counts from 1. */
  | { status: 'admitted'; attempt: number }
  /** The event is done. */
  | { status: 'duplicate' }
  /** The event was given up, and is in the dead letters. */
  | { status: 'dead-lettered' }
  /** Another claim holds a live lease. */
  | { status: 'in-progress' }
  /**
   * Another event of the group holds a live lease. No attempt was counted and no lease taken, and the
   * webhook id is remembered with this token: the same claim may be made again.
   */
  | { status: 'group-busy' }
  /** The webhook id was seen before. */
  | { status: 'replayed' };

/** How an event was done, if its handler did not succeed. */
export type DoneMark = 'dead-lettered';

/**
 * Remembers webhook ids and events. Every call is atomic.
 *
 * Tokens fence: after its lease expired or was taken over, a token can no longer complete, release
 * or extend. Those calls then return `false` and change nothing.
 */
export interface Store {
  /** The name of the store in log lines, such as `Redis`. */
  readonly name?: string | undefined;
  /** Checks and remembers the webhook id, and takes the lease on the event as its next attempt. */
  admit(claim: Claim): Promise<Admission>;
  /**
   * Marks the event as done.
   * @param mark `'dead-lettered'`: no handler succeeded, and the event is in the dead letters
   */
  complete(key: string, token: string, mark?: DoneMark): Promise<boolean>;
  /**
   * Marks the event as done with a statement in the caller's own transaction, so that its other writes
   * and this mark are either both committed or both rolled back. A token that has marked the event may
   * do it again.
   *
   * With a synchronous client, which cannot wait, this method returns and throws synchronously.
   * @param tx the transaction, from a client that the store supports
   * @returns `false` if the lease was lost: the transaction must be rolled back
   * @throws WebhookError `invalid-options` if `tx` is not a transaction
   */
  completeIn?(tx: unknown, key: string, token: string): boolean | Promise<boolean>;
  /** Ends the lease and keeps the attempt count. */
  release(key: string, token: string): Promise<boolean>;
  /** Renews the lease, so that it ends `leaseMs` milliseconds from now. */
  extend(key: string, token: string, leaseMs: number): Promise<boolean>;
  /**
   * Makes a dead-lettered event free again; its attempts count from 1. Without this method, dead
   * letters cannot be redriven.
   * @returns `false` if the event is not dead-lettered
   */
  reopen?(key: string): Promise<boolean>;
  /**
   * Forgets events that are done or have failed: they would run again if they were delivered again. An
   * event that is running is kept.
   * @param keys their idempotency keys
   * @returns the number of events that were known
   */
  forget?(keys: readonly string[]): Promise<number>;
  /**
   * How long a done event is remembered, in milliseconds. It is less than the configured value while
   * the store cannot know what happened earlier: a memory store that was just created knows nothing.
   */
  readonly rememberFor?: number | undefined;
  /** Returns the cursor that was last saved under this name, such as the progress of the reconciler. */
  loadCursor?(name: string): Promise<string | undefined>;
  /** Saves a cursor under this name, replacing the previous one. Without `cursor`, removes it. */
  saveCursor?(name: string, cursor?: string): Promise<void>;
  /**
   * Returns what is known about these events, in the order of `keys`; `undefined` for an unknown one.
   * Changes nothing.
   */
  peek?(keys: readonly string[]): Promise<readonly (EventState | undefined)[]>;
  /** The outcome log of all processes that share the store. */
  readonly log?: OutcomeLog | undefined;
  /** Resolves if the store can accept a claim now. `receiver.health()` uses it. */
  ping?(): Promise<unknown>;
  /**
   * Closes the store. Call it yourself after the receiver has closed: a receiver never closes a store.
   */
  close?(): Promise<void>;
}

/** A store that is not in a database whose transactions could complete an event. */
export interface StoreWithoutCompleteIn extends Store {
  completeIn?: never;
}
