/** One request to take an event: everything that `admit` needs to decide, in one round trip. */
export interface Claim {
  webhookId: string;
  /** Until when the webhook id has to be remembered; milliseconds since the epoch. */
  replayUntil: number;
  /** The event's idempotency key. Without one only the webhook id is checked and remembered. */
  key?: string | undefined;
  /** How long the lease lasts unless it is extended; milliseconds. */
  leaseMs: number;
  /** New for every claim. The same claim with the same token may be repeated: it is one claim. */
  token: string;
}

export type Admission =
  /** The event is yours until the lease runs out. `attempt` counts from 1. */
  | { status: 'admitted'; attempt: number }
  /** The event is done. */
  | { status: 'duplicate' }
  /** A live lease is held elsewhere. */
  | { status: 'in-progress' }
  /** The webhook id was seen before. */
  | { status: 'replayed' };

/**
 * What remembers webhook ids and events. Every call is atomic, and one round trip.
 *
 * Tokens fence: once its lease ran out, or was taken over, a token can no longer complete, release
 * or extend; those calls then give `false` and change nothing.
 */
export interface Store {
  /** Checks and remembers the webhook id, and takes the lease on the event, attempt + 1. */
  admit(claim: Claim): Promise<Admission>;
  /** Marks the event as done. */
  complete(key: string, token: string): Promise<boolean>;
  /** Gives the lease back, keeping the count of attempts. */
  release(key: string, token: string): Promise<boolean>;
  /** Lets the lease end `leaseMs` from now. */
  extend(key: string, token: string, leaseMs: number): Promise<boolean>;
  /** Resolves when the store would take a claim, for `receiver.health()`. Bounded like every call. */
  ping?(): Promise<unknown>;
  /** For whoever made the store; a receiver does not close it. */
  close?(): Promise<void>;
}
