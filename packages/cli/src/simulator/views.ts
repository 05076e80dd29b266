import type { Attempt, Call, ChaosSettings, Delivery, Mail, Rule } from '@call-webhooks/simulator';

export type { Attempt, Call, ChaosSettings, Delivery, Mail, Rule };

/** An attempt without its bodies and headers, as lists and the stream have it. */
export type AttemptSummary = Omit<Attempt, 'request' | 'answer' | 'droppedAnswer'> & {
  readonly answer?:
    | { readonly kind: 'status'; readonly status: number }
    | { readonly kind: 'timeout' }
    | { readonly kind: 'connection-error'; readonly code: string };
  /** Whether chaos kept the answer from the service. */
  readonly dropped: boolean;
};

/** A delivery without its body. */
export type DeliverySummary = Omit<Delivery, 'body' | 'attempts'> & {
  readonly attempts: readonly AttemptSummary[];
};

export interface ClockView {
  readonly mode: 'real' | 'manual';
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly nextDueAt: number | null;
  readonly inFlight: number;
}

/** One event of the stream; with `resync` too much changed, and everything is to be asked for anew. */
export interface Changes {
  readonly resync: boolean;
  readonly clock: ClockView;
  readonly rules: readonly Rule[];
  readonly deliveries: readonly DeliverySummary[];
}
