import type { ChaosMode } from '../chaos.ts';
import type { PauseReason } from '../rules/rule.ts';

/**
 * - `waiting`: the next attempt is due at `nextAttemptAt`
 * - `in-flight`: the receiver is handling an attempt
 * - `acknowledged`: the receiver responded 2xx in time
 * - `failed`: the receiver responded 404, or the last attempt failed; the rule was paused
 * - `dropped`: not sent, because the rule is paused (`whilePaused: 'drop'`) or its action was removed
 * - `held`: sent when the paused rule is resumed (`whilePaused: 'hold'`)
 */
export type WebhookEventState =
  'waiting' | 'in-flight' | 'acknowledged' | 'failed' | 'dropped' | 'held';

/** How an attempt ended, as the service sees it. */
export type AttemptResponse =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      /** The first 64 KiB. The service ignores the body; the inspector shows it. */
      readonly body: string;
      /** Whether the body was longer, or did not arrive completely. */
      readonly truncated: boolean;
    }
  /** No status line within the acknowledgement time. */
  | { readonly kind: 'timeout' }
  /** The connection failed: `code` is Node's error code, `ECONNREFUSED` for example. */
  | { readonly kind: 'connection-error'; readonly code: string };

/** Why an attempt did not acknowledge its event. */
export type FailureReason = 'status' | 'timeout' | 'connection-error';

/** What an attempt does to its event and to the rule (spec, "States and transitions"). */
export type AttemptResult =
  | { readonly next: 'acknowledged' }
  | { readonly next: 'retry'; readonly reason: FailureReason }
  | {
      readonly next: 'paused';
      readonly reason: Extract<PauseReason, 'responded-404' | 'last-attempt-failed'>;
    };

/** One HTTP request of an event. */
export interface Attempt {
  /** Counts from 1. */
  readonly number: number;
  /** `replay`: a captured request that somebody sent again. Its response changes nothing. */
  readonly kind: 'scheduled' | 'replay';
  /** Milliseconds of the simulator's clock. */
  readonly startedAt: number;
  readonly request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** The body as sent, with any change that chaos made to it. */
    readonly body: string;
  };
  /** The chaos modes that were applied to this attempt. */
  readonly chaos: readonly ChaosMode[];
  /** Absent while the attempt is in flight. */
  readonly response?: AttemptResponse;
  /** The receiver's real response, when chaos dropped it. */
  readonly droppedResponse?: AttemptResponse;
  /** Milliseconds of the simulator's clock. */
  readonly endedAt?: number;
  /** Real milliseconds from the request to the response. */
  readonly tookMs?: number;
  /** What the attempt does to the event. Absent while it is in flight, and for a replay. */
  readonly result?: AttemptResult;
}

/** One event on its way to one webhook action. */
export interface WebhookEvent {
  readonly _id: string;
  /** Counts from 1, in the order of creation. */
  readonly number: number;
  readonly ruleId: string;
  readonly actionId: string;
  readonly callId: string;
  /** What its body names; the rule's trigger, if the body names none. */
  readonly eventName: string;
  /** The JSON text. Every attempt sends the same bytes. */
  readonly body: string;
  /** Milliseconds of the simulator's clock. */
  readonly createdAt: number;
  readonly state: WebhookEventState;
  readonly attempts: readonly Attempt[];
  /** Milliseconds of the simulator's clock. Only while `waiting`. */
  readonly nextAttemptAt?: number;
  /** Why it was not sent. Only while `dropped`. */
  readonly droppedBecause?: 'rule-paused' | 'action-removed';
  /** The event that this one repeats. */
  readonly copyOf?: string;
  /** What made the copy: a chaos mode, or `resend`. */
  readonly copiedBy?: 'duplicate' | 'concurrentDuplicates' | 'resend';
  /** Whether somebody edited the body. */
  readonly byHand?: boolean;
}
