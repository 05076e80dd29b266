/** The event that fires a rule (spec, "Webhook events"). */
export type RuleTrigger = 'call:started' | 'call:completed';

/** The names of the service's three events. */
export type EventName = RuleTrigger | 'call:recording-available';

/**
 * Why a rule is paused. The spec has the first two reasons. `by-hand`, a pause that you asked for,
 * exists only in the simulator.
 */
export type PauseReason = 'responded-404' | 'last-attempt-failed' | 'by-hand';

/** A "Post to webhook" action of a rule. `simulator.secrets` has its signing secret. */
export interface Action {
  readonly _id: string;
  readonly type: 'webhook';
  /** The URL of the receiver, to which deliveries are sent. */
  readonly url: string;
  /**
   * The custom payload that is sent instead of the event's body, with its `{{placeholders}}`. It is
   * absent if the event's body is sent.
   */
  readonly payload?: unknown;
  /**
   * Whether deliveries are signed. It is `false` for an action that was saved before signing was
   * introduced, which has no secret.
   */
  readonly signed: boolean;
}

/** A rule, or the call recording webhook, which behaves like a rule (spec, "What the service does"). */
export interface Rule {
  readonly _id: string;
  /** Whether this is a rule or the recording webhook. */
  readonly kind: 'rule' | 'recording-webhook';
  /** The name of the rule, which emails and the inspector show. */
  readonly name: string;
  /** The event that fires the rule. */
  readonly trigger: EventName;
  /**
   * A `user` rule fires for the calls of its owner, who gets the emails about it. A `workspace` rule
   * fires for all calls, and the admins get the emails.
   */
  readonly scope: 'user' | 'workspace';
  /** The `_id` of the user who owns the rule. */
  readonly ownerId: string;
  /** Whether the rule sends events. A paused rule drops or holds them (`whilePaused`). */
  readonly state: 'active' | 'paused';
  /** Why the rule is paused. It is absent while the rule is active. */
  readonly pauseReason?: PauseReason;
  /**
   * The time of the pause, in milliseconds of the simulator's clock. It is absent while the rule is
   * active.
   */
  readonly pausedAt?: number;
  /** The webhook actions of the rule. The recording webhook has one. */
  readonly actions: readonly Action[];
}
