/** The event that fires a rule (spec, "Webhook events"). */
export type RuleTrigger = 'call:started' | 'call:completed';

/** The three events of the service. */
export type EventName = RuleTrigger | 'call:recording-available';

/** Why a rule is paused. `by-hand` is an addition of the simulator; the other two are the spec's. */
export type PauseReason = 'answered-404' | 'last-attempt-failed' | 'by-hand';

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

/** A new action. */
export interface ActionInput {
  /** Where deliveries go: an http or https URL, on this machine unless `allowExternal` is set. */
  url: string;
  /**
   * A custom payload: any JSON value, with `{{placeholders}}` in its strings.
   * @guess Size of bodies
   */
  payload?: unknown;
  /** `false` creates an old action without a secret, whose deliveries are not signed. */
  signed?: boolean | undefined;
  /** A signing secret, `whsec_…`. Generated from the seed by default. */
  secret?: string | undefined;
}

/** Changes to an action. A field that is left out stays as it is; `payload: null` removes it. */
export type ActionChanges = Partial<ActionInput>;

/** A new rule. */
export interface RuleInput {
  trigger: RuleTrigger;
  /** `user` by default. */
  scope?: 'user' | 'workspace' | undefined;
  /** The `_id` of a user of the workspace; its first user by default. */
  ownerId?: string | undefined;
  name?: string | undefined;
  actions?: readonly ActionInput[] | undefined;
}

/** Changes to a rule. A field that is left out stays as it is. */
export type RuleChanges = Partial<Omit<RuleInput, 'actions'>>;
