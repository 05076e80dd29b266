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
  /** New for every claim. A repeated call with the same token is the same claim. */
  token: string;
  /**
   * Of all events of a group, one runs at a time: while another one holds its lease, the answer is
   * `group-busy`. A claim with a group has a key. A store without groups must throw.
   */
  group?: string | undefined;
  /** How long the answer is waited for; milliseconds. A store need not send what comes too late. */
  within?: number | undefined;
}

/** The answer to a claim. */
export type Admission =
  /** The claim holds the lease until it expires. `attempt` counts from 1. */
  | { status: 'admitted'; attempt: number }
  /** The event is done. */
  | { status: 'duplicate' }
  /** The event was given up, and the dead letters have it. */
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
  /** What log lines call it, such as `Redis`. */
  readonly name?: string | undefined;
  /** Checks and remembers the webhook id, and takes the lease on the event as its next attempt. */
  admit(claim: Claim): Promise<Admission>;
  /**
   * Marks the event as done.
   * @param mark `'dead-lettered'`: no handler succeeded, and the dead letters have the event
   */
  complete(key: string, token: string, mark?: DoneMark): Promise<boolean>;
  /**
   * Marks the event as done with a statement of the caller's own transaction: what else it wrote and
   * "done" are committed together, or neither is. A token that has marked the event may do it again.
   *
   * A synchronous client cannot wait: with one, this returns and throws at once.
   * @param tx the transaction, of a client that the store knows
   * @returns `false` if the lease was lost: the transaction must be rolled back
   * @throws WebhookError `invalid-options` for what is no transaction
   */
  completeIn?(tx: unknown, key: string, token: string): boolean | Promise<boolean>;
  /** Ends the lease and keeps the attempt count. */
  release(key: string, token: string): Promise<boolean>;
  /** Makes the lease end `leaseMs` milliseconds from now. */
  extend(key: string, token: string, leaseMs: number): Promise<boolean>;
  /**
   * Makes a dead-lettered event free again; its attempts count from 1. Without this method, dead
   * letters cannot be redriven.
   * @returns `false` if the event is not dead-lettered
   */
  reopen?(key: string): Promise<boolean>;
  /**
   * Forgets what is known of events that are done or failed: they would run again if they were delivered again.
   * One that runs stays.
   * @param keys their idempotency keys
   * @returns how many were known
   */
  forget?(keys: readonly string[]): Promise<number>;
  /**
   * How long a done event is known; milliseconds. Less than was configured if the store can't know
   * what happened before: one in memory that was just created knows nothing.
   */
  readonly rememberFor?: number | undefined;
  /** The cursor that was saved last under this name, such as how far a reconcile has come. */
  loadCursor?(name: string): Promise<string | undefined>;
  /** Keeps a cursor until it is saved again. Without one, forgets what it had. */
  saveCursor?(name: string, cursor?: string): Promise<void>;
  /** What is known of these events, in their order; `undefined` for a new one. Changes nothing. */
  peek?(keys: readonly string[]): Promise<readonly (EventState | undefined)[]>;
  /** What ended, in all processes that share the store. */
  readonly log?: OutcomeLog | undefined;
  /** Resolves when the store can take a claim, for `receiver.health()`. */
  ping?(): Promise<unknown>;
  /** Called by whoever created the store; a receiver never closes it. */
  close?(): Promise<void>;
}

/** A store that is in no database whose transactions could complete an event. */
export interface StoreWithoutCompleteIn extends Store {
  completeIn?: never;
}
