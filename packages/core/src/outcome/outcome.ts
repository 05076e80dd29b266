import type { OutcomeCode } from './outcome-code.ts';
import type { WebhookError } from './webhook-error.ts';

/** What became of one request: handed to `onOutcome`, and part of each `Answer`. */
export interface Outcome {
  outcome: OutcomeCode;
  /** The HTTP status of the answer. For a `late` outcome: the one that would have been sent. */
  status: number;
  /** Milliseconds since the request reached the receiver. */
  durationMs: number;
  /** Set once the delivery was verified. */
  webhookId?: string;
  eventName?: string;
  callId?: string;
  /** The idempotency key. Absent on an authentic event: it has none, and is handled every time. */
  key?: string;
  /** 1 for the first time that this event is run. */
  attempt?: number;
  /** The `id` of the secret that verified the delivery; never its text. */
  secretId?: string;
  /** Why it was not handled. Its text holds nothing of the body, and no secret. */
  error?: WebhookError;
  /** The second outcome of a delivery that was answered `deadline`: what its handler came to. */
  late?: true;
}
