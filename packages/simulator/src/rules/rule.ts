/** The event that fires a rule (spec, "Webhook events"). */
export type RuleTrigger = 'call:started' | 'call:completed';

/** The three events of the service. */
export type EventName = RuleTrigger | 'call:recording-available';

/** Why a rule is paused. `by-hand` is an addition of the simulator; the other two are the spec's. */
export type PauseReason = 'responded-404' | 'last-attempt-failed' | 'by-hand';

/** A "Post to webhook" action of a rule. `Secrets` holds its signing secret. */
export interface Action {
  readonly _id: string;
  readonly type: 'webhook';
  readonly url: string;
  /** Sent instead of the event's body. The README describes its placeholders. */
  readonly payload?: unknown;
  /** `false` for an action saved before signing was introduced: it has no secret. */
  readonly signed: boolean;
}

/** A rule, or the call recording webhook, which behaves like one (spec, "What the service does"). */
export interface Rule {
  readonly _id: string;
  readonly kind: 'rule' | 'recording-webhook';
  readonly name: string;
  readonly trigger: EventName;
  /**
   * A `user` rule fires for the calls of its owner, who gets the emails about it. A `workspace` rule
   * fires for all calls, and the admins get the emails.
   */
  readonly scope: 'user' | 'workspace';
  /** The `_id` of a user. */
  readonly ownerId: string;
  readonly state: 'active' | 'paused';
  readonly pauseReason?: PauseReason;
  /** Milliseconds of the simulator's clock. */
  readonly pausedAt?: number;
  readonly actions: readonly Action[];
}
