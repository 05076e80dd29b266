import type { ChaosMode } from '../chaos/modes.ts';
import type { EventName } from '../rules/rule.ts';
import type { Answer } from './answer.ts';
import type { Verdict } from './verdict.ts';

/**
 * - `waiting`: its next attempt is due at `nextAttemptAt`
 * - `in-flight`: a receiver is working on it
 * - `acknowledged`: answered 2xx in time
 * - `failed`: answered 404, or its last attempt failed; the rule was paused
 * - `dropped`: its rule is paused, and it is not sent (`whilePaused: 'drop'`)
 * - `held`: its rule is paused, and it is sent when the rule is resumed (`whilePaused: 'hold'`)
 */
export type DeliveryState =
  'waiting' | 'in-flight' | 'acknowledged' | 'failed' | 'dropped' | 'held';

/** One HTTP request of a delivery. */
export interface Attempt {
  /** Counts from 1. */
  readonly number: number;
  /** `replay`: a captured request that somebody sent again. Its answer changes nothing. */
  readonly kind: 'scheduled' | 'replay';
  /** Milliseconds of the simulator's clock. */
  readonly startedAt: number;
  readonly request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** The body as it was sent, if need be after tampering. */
    readonly body: string;
  };
  /** What was done to this attempt on purpose. */
  readonly chaos: readonly ChaosMode[];
  /** What the service saw. Absent while the attempt is in flight. */
  readonly answer?: Answer;
  /** What the receiver really answered, where chaos dropped it. */
  readonly droppedAnswer?: Answer;
  /** Milliseconds of the simulator's clock. */
  readonly endedAt?: number;
  /** Real milliseconds from the request to the answer. */
  readonly tookMs?: number;
  readonly verdict?: Verdict;
}

/** One event on its way to one webhook action. */
export interface Delivery {
  readonly _id: string;
  /** Counts from 1, in the order in which deliveries are made. */
  readonly number: number;
  readonly ruleId: string;
  readonly actionId: string;
  readonly callId: string;
  readonly eventName: EventName;
  /** The JSON text; the same bytes with every attempt. */
  readonly body: string;
  /** Milliseconds of the simulator's clock. */
  readonly createdAt: number;
  readonly state: DeliveryState;
  readonly attempts: readonly Attempt[];
  /** Milliseconds of the simulator's clock; only while `waiting`. */
  readonly nextAttemptAt?: number;
  /** The delivery that this one repeats: by chaos, or by hand. */
  readonly copyOf?: string;
  readonly copiedBy?: 'duplicate' | 'concurrentDuplicates' | 'resend';
}
