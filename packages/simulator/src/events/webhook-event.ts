import type { ChaosMode } from '../chaos.ts';
import type { PauseReason } from '../rules/rule.ts';

/**
 * The state of an event.
 *
 * - `waiting`: the next attempt is due at `nextAttemptAt`
 * - `in-flight`: the receiver is handling an attempt
 * - `acknowledged`: the receiver returned 2xx in time
 * - `failed`: the receiver returned 404, or the last attempt failed; the rule was paused
 * - `dropped`: not sent, because the rule is paused (`whilePaused: 'drop'`) or its action was removed
 * - `held`: will be sent when the paused rule is resumed (`whilePaused: 'hold'`)
 */
export type WebhookEventState =
  'waiting' | 'in-flight' | 'acknowledged' | 'failed' | 'dropped' | 'held';

/** How an attempt ended, as the service sees it: with a status, a timeout, or a connection error. */
export type AttemptResponse =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      /**
       * The first 64 KiB of the response body. The service ignores the body; the inspector shows it.
       */
      readonly body: string;
      /** Whether the body was longer than that, or did not arrive completely. */
      readonly truncated: boolean;
    }
  /** There was no status line within `acknowledgeWithin`. */
  | { readonly kind: 'timeout' }
  /** The connection failed. `code` is the error code of Node.js, such as `ECONNREFUSED`. */
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

/** One attempt to deliver an event: one signed HTTP request, which is one delivery. */
export interface Attempt {
  /**
   * The number of the attempt, counted from 1. A replay has the number of the attempt that it repeats.
   */
  readonly number: number;
  /**
   * `scheduled`: a request of the service. `replay`: the same request sent again, as an attacker would
   * do; its response changes nothing.
   */
  readonly kind: 'scheduled' | 'replay';
  /** The time at which the request was sent, in milliseconds of the simulator's clock. */
  readonly startedAt: number;
  /** The request as it was sent. */
  readonly request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** The body as sent, with any change that chaos made to it. */
    readonly body: string;
  };
  /** The chaos modes that were applied to this attempt. */
  readonly chaos: readonly ChaosMode[];
  /** How the attempt ended. It is absent while the attempt is in flight. */
  readonly response?: AttemptResponse;
  /** The real response of the receiver, if chaos dropped it. */
  readonly droppedResponse?: AttemptResponse;
  /**
   * The time at which the attempt ended, in milliseconds of the simulator's clock. It is absent while
   * the attempt is in flight.
   */
  readonly endedAt?: number;
  /**
   * Real milliseconds from the request to the response. It is absent while the attempt is in flight.
   */
  readonly tookMs?: number;
  /**
   * What the attempt does to the event. It is absent while the attempt is in flight, and for a replay.
   */
  readonly result?: AttemptResult;
}

/**
 * An event on its way to one webhook action, with all its attempts. An event that fires several actions
 * has one entry for each.
 */
export interface WebhookEvent {
  /** The id of this entry in the simulator. It is not a webhook id: each attempt has its own. */
  readonly _id: string;
  /** The number of the event, counted from 1 in the order of creation. */
  readonly number: number;
  /** The `_id` of the rule that sends the event. */
  readonly ruleId: string;
  /** The `_id` of the webhook action that sends the event. */
  readonly actionId: string;
  /** The `_id` of the call. For an edited body, the `callId` in it. */
  readonly callId: string;
  /** The name of the event, such as `call:completed`. For an edited body, the `eventName` in it. */
  readonly eventName: string;
  /** The JSON text of the body. Every attempt sends the same bytes. */
  readonly body: string;
  /** The time at which the event happened, in milliseconds of the simulator's clock. */
  readonly createdAt: number;
  /** The state of the event. */
  readonly state: WebhookEventState;
  /** The attempts so far, oldest first. */
  readonly attempts: readonly Attempt[];
  /**
   * The time of the next attempt, in milliseconds of the simulator's clock. Only a `waiting` event has
   * it.
   */
  readonly nextAttemptAt?: number;
  /** Why the event was not sent. Only a `dropped` event has it. */
  readonly droppedBecause?: 'rule-paused' | 'action-removed';
  /** The `_id` of the event that this one is a copy of. */
  readonly copyOf?: string;
  /** What made the copy: a chaos mode, or `resend`. */
  readonly copiedBy?: 'duplicate' | 'concurrentDuplicates' | 'resend';
  /** `true` if the body was edited before it was resent. */
  readonly byHand?: boolean;
}
