import type { Call } from '../calls/call.ts';
import type { ChaosSettings } from '../chaos/chaos.ts';
import type { Attempt, AttemptResponse, Delivery, DeliveryState } from '../deliveries/delivery.ts';
import type { Mail } from '../outbox/mail.ts';
import type { Rule } from '../rules/rule.ts';

/** An attempt without request, headers and bodies. */
export type AttemptSummary = Omit<Attempt, 'request' | 'response' | 'droppedResponse'> & {
  readonly response?:
    Exclude<AttemptResponse, { kind: 'status' }> | { kind: 'status'; status: number };
  /** Where it was sent. */
  readonly url: string;
  /** What the receiver said about it, also when chaos dropped the response. Absent for other servers. */
  readonly outcome?: string;
  /** Whether chaos dropped the response. */
  readonly dropped: boolean;
};

/** A delivery without bodies and headers. */
export type DeliverySummary = Omit<Delivery, 'body' | 'attempts'> & {
  readonly attempts: readonly AttemptSummary[];
} & Names;

/** `GET /_sim/deliveries/:id`: a delivery with all bodies and headers. */
export type DeliveryView = Omit<Delivery, 'attempts'> & {
  readonly attempts: readonly (Attempt & Pick<AttemptSummary, 'url' | 'outcome' | 'dropped'>)[];
} & Names;

interface Names {
  /** Where the last attempt went, or the first will go. Absent if the action was removed before. */
  readonly url?: string;
  /** The name of the rule. Absent once the rule was removed. */
  readonly ruleName?: string;
  /** Who was called: the name, or else the number. Absent for an event of no known call. */
  readonly callName?: string;
}

/** `GET /_sim/deliveries/page`: deliveries that match a search, and how many others there are. */
export interface DeliveryPage {
  /** The oldest first. */
  readonly deliveries: readonly DeliverySummary[];
  /** The number of deliveries in each state that match everything but the state. */
  readonly counts: CountsView['deliveries'];
  /** How many matching deliveries are older than these. */
  readonly older: number;
  /** How many matching deliveries are newer than these. */
  readonly newer: number;
}

/** `GET /_sim/outcomes`: what each outcome of a receiver means, and what to do about it. */
export type OutcomesView = Readonly<
  Record<string, { readonly status: number; readonly when: string; readonly fix: string }>
>;

/** Times are milliseconds since the epoch, of the simulator's clock. */
export interface ClockView {
  readonly mode: 'real' | 'manual';
  readonly now: number;
  readonly nextDueAt: number | null;
  /** The number of requests that receivers are handling. */
  readonly inFlight: number;
}

/** How many records of each kind the simulator keeps. */
export interface CountsView {
  readonly calls: number;
  readonly deliveries: Partial<Readonly<Record<DeliveryState, number>>>;
  readonly mails: number;
  readonly messages: number;
}

/** The delivery options. Durations are milliseconds. */
export interface PolicyView {
  readonly maxAttempts: number;
  readonly retryEvery: number;
  readonly acknowledgeWithin: number;
  readonly whilePaused: 'drop' | 'hold';
}

/** `GET /_sim/secrets`: secrets by action id; `null` for an unsigned action. */
export type SecretsView = Readonly<
  Record<string, { current: string; previous?: string; rotations: number } | null>
>;

/** `GET /_sim/state`: the state, with the latest 200 calls, deliveries and emails. */
export interface StateView {
  readonly seed: string;
  readonly url: string;
  readonly policy: PolicyView;
  readonly clock: ClockView;
  readonly counts: CountsView;
  readonly chaos: ChaosSettings;
  readonly rules: readonly Rule[];
  readonly calls: readonly Call[];
  readonly deliveries: readonly DeliverySummary[];
  readonly outbox: readonly Mail[];
}

/** A `changes` event of `GET /_sim/stream`: the records that changed, in their current state. */
export interface ChangesView {
  /** After a reset, or too many changes: fetch the state again. */
  readonly resync: boolean;
  readonly clock: ClockView;
  readonly counts: CountsView;
  readonly chaos: ChaosSettings;
  readonly rules: readonly Rule[];
  /** The ids of rules that were removed. */
  readonly removedRules: readonly string[];
  readonly calls: readonly Call[];
  readonly deliveries: readonly DeliverySummary[];
  readonly outbox: readonly Mail[];
  /** The ids of the actions whose secrets were rotated. */
  readonly rotated: readonly string[];
}
