import type { Call } from '../calls/call.ts';
import type { ChaosSettings } from '../chaos/modes.ts';
import type { Answer } from '../deliveries/answer.ts';
import type { Attempt, Delivery, DeliveryState } from '../deliveries/delivery.ts';
import type { Mail } from '../outbox/mail.ts';
import type { Rule } from '../rules/rule.ts';

/** An attempt without what is only of interest up close: its request, headers and bodies. */
export type AttemptSummary = Omit<Attempt, 'request' | 'answer' | 'droppedAnswer'> & {
  readonly answer?: Exclude<Answer, { kind: 'status' }> | { kind: 'status'; status: number };
  /** Whether chaos dropped the answer. */
  readonly dropped: boolean;
};

/** A delivery without bodies and headers. */
export type DeliverySummary = Omit<Delivery, 'body' | 'attempts'> & {
  readonly attempts: readonly AttemptSummary[];
};

/** Times are milliseconds since the epoch, of the simulator's clock. */
export interface ClockView {
  readonly mode: 'real' | 'manual';
  readonly now: number;
  readonly nextDueAt: number | null;
  /** How many requests a receiver is working on. */
  readonly inFlight: number;
}

export interface CountsView {
  readonly calls: number;
  readonly deliveries: Partial<Readonly<Record<DeliveryState, number>>>;
  readonly mails: number;
  readonly messages: number;
}

/** What the service does, as the options have it; milliseconds. */
export interface PolicyView {
  readonly maxAttempts: number;
  readonly retryEvery: number;
  readonly acknowledgeWithin: number;
  readonly whilePaused: 'drop' | 'hold';
}

/** `GET /_sim/secrets`: by the id of the action; `null` for one that is not signed. */
export type SecretsView = Readonly<
  Record<string, { current: string; previous?: string; rotations: number } | null>
>;

/** `GET /_sim/state`: everything that the inspector shows, the latest of what there may be many of. */
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

/** A `changes` event of the stream: the records that changed, as they are now. */
export interface ChangesView {
  /** There were too many, or there was a reset: the state is to be fetched anew. */
  readonly resync: boolean;
  readonly clock: ClockView;
  readonly counts: CountsView;
  readonly chaos: ChaosSettings;
  readonly rules: readonly Rule[];
  readonly calls: readonly Call[];
  readonly deliveries: readonly DeliverySummary[];
  readonly outbox: readonly Mail[];
  /** The ids of the actions whose secrets were rotated. */
  readonly rotated: readonly string[];
}
