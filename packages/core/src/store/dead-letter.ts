import type { DeliverySource } from '../outcome/response.ts';

/** A delivery that failed for good, with all that is needed to run it again. */
export interface DeadLetter {
  /** Set if it is a stored letter that was redriven and failed again. */
  id?: string;
  /** Its handler failed `maxAttempts` times, or its payload can never be handled. */
  reason: 'handler-failed' | 'invalid-payload';
  /** Whose event it is. Absent in a receiver without the option `tenant`. */
  tenant?: string;
  /** The raw body, byte for byte. It may contain personal data. */
  rawBody: Uint8Array;
  webhookId: string;
  /** When the last attempt was signed. */
  timestamp: Date;
  eventName?: string;
  callId?: string;
  /** The idempotency key of the event. */
  key?: string;
  /** How often it was run. */
  attempt: number;
  /** When the last attempt failed. */
  failedAt: Date;
  /** Where the last attempt came from. */
  source: DeliverySource;
  /** What the handler threw, unchanged, or a `WebhookError`. It may contain personal data. */
  error: unknown;
  /** The error as text, without personal data and secrets, as log lines have it. */
  errorText: string;
}

/**
 * Stores dead letters. Once it resolves, the delivery is acknowledged, so it must be stored durably
 * by then. If it throws, the delivery is retried.
 */
export type DeadLetterSink = (deadLetter: DeadLetter) => unknown;

/** The method of a store of dead letters that `deadLetter` uses. */
export interface DeadLetterStore {
  put(letter: DeadLetter): Promise<void>;
}

/** One failure of a dead letter: the one that put it here, or a redrive. */
export interface DeadLetterFailure {
  at: Date;
  source: DeliverySource;
  attempt: number;
  /** Without personal data and secrets. */
  error: string;
}

/** A dead letter as a store keeps it. */
export interface StoredDeadLetter extends Omit<DeadLetter, 'id' | 'error' | 'errorText'> {
  /** The same for all letters of one event. */
  id: string;
  /** The last error as text, without personal data and secrets. */
  error: string;
  /** Its failures, oldest first; at most the last 50. */
  history: DeadLetterFailure[];
  /** Until when a redrive has it. Absent if it is free. */
  claimedUntil?: Date;
}
