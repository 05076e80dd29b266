/** What a rule is fired by (spec, "Webhook events"). */
export type RuleTrigger = 'call:started' | 'call:completed';

/** The three events of the service. */
export type EventName = RuleTrigger | 'call:recording-available';

/** Why a rule is paused. `by-hand` is ours; the other two are the spec's. */
export type PauseReason = 'answered-404' | 'last-attempt-failed' | 'by-hand';

/** One Post to webhook action of a rule. Its secret is kept apart, in `secrets`. */
export interface Action {
  readonly _id: string;
  readonly type: 'webhook';
  readonly url: string;
  /** Sent in place of the event's own body; see the README for its placeholders. */
  readonly payload?: unknown;
  /** `false` for an action saved before signing was introduced: it has no secret. */
  readonly signed: boolean;
}

/** A rule, or the call recording webhook, which behaves as one (spec, "What the service does"). */
export interface Rule {
  readonly _id: string;
  readonly kind: 'rule' | 'recording-webhook';
  readonly name: string;
  readonly trigger: EventName;
  /** A pause of a user's rule mails its owner; that of a workspace's rule mails the admins. */
  readonly scope: 'user' | 'workspace';
  /** The `_id` of a user. */
  readonly ownerId: string;
  readonly state: 'active' | 'paused';
  readonly pausedBecause?: PauseReason;
  /** Milliseconds of the simulator's clock. */
  readonly pausedAt?: number;
  readonly actions: readonly Action[];
}

/** What an action is made of. */
export interface ActionInput {
  /** Where deliveries go: an http or https URL, on this machine unless `allowExternal` is set. */
  url: string;
  /** A custom payload: any JSON value, with `{{placeholders}}` in its texts. */
  payload?: unknown;
  /** `false` makes an old action without a secret, whose deliveries are not signed. */
  signed?: boolean | undefined;
  /** A secret of your own, `whsec_…`; otherwise one is drawn. */
  secret?: string | undefined;
}

/** What a rule is made of. */
export interface RuleInput {
  trigger: RuleTrigger;
  /** `user` by default. */
  scope?: 'user' | 'workspace' | undefined;
  /** The `_id` of a user of the directory; its first user by default. */
  ownerId?: string | undefined;
  name?: string | undefined;
  actions?: readonly ActionInput[] | undefined;
}
