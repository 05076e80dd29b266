import { CHANNELS, type OutcomeMessage } from '../channels/channels.ts';
import type { OutcomeCode } from '../outcome/outcomes.ts';
import { originsOf, type ErrorOrigin, type ErrorSource } from '../outcome/origin.ts';
import type { Outcome } from '../outcome/response.ts';
import { withRedactedIds } from '../redact/ids.ts';
import { callHook } from './logger.ts';
import type { Identified } from './outcome-line.ts';

/**
 * Where and when an error happened. It contains no personal data.
 *
 * No interface, so that trackers can take it as a `Record<string, unknown>`.
 */
export type ErrorInfo = {
  /** The outcome of the attempt. */
  code: OutcomeCode;
  /** What failed. */
  source: ErrorSource;
  /** The tenant that the request names. It is verified if there is a `webhookId`. */
  tenant?: string;
  eventName?: string;
  callId?: string;
  /** The idempotency key of the event. */
  key?: string;
  /** Set once the delivery was verified. */
  webhookId?: string;
  /** 1 the first time that the event runs. */
  attempt?: number;
  /** Whether the event is not run again: it goes to `deadLetter`, or its worker gives up. */
  lastAttempt: boolean;
  /** Whether the service got its response (`deadline`) before the error. */
  late: boolean;
  /** Whether it happened in a queue's worker. */
  queued: boolean;
};

/** Takes an error as it was thrown, with its `cause`. */
export type ErrorHook = (error: unknown, info: ErrorInfo) => unknown;

/**
 * Hooks that are told of outcomes and errors. What they throw changes nothing; the logger is told of it
 * at most once in 10 s.
 */
export interface ReportingHooks {
  /**
   * Called with the original error of each failed attempt, for an error tracker; also with what a
   * handler threw after its transaction was committed, with a `completeIn` that came too late, and with
   * errors of `waitUntil`. The error may
   * contain personal data.
   */
  onError?: ErrorHook | undefined;
  /**
   * Called with every outcome, for metrics. A delivery that misses its deadline has a second outcome,
   * with `late: true`: leave those out to count deliveries.
   */
  onOutcome?: ((outcome: Outcome) => unknown) | undefined;
}

/**
 * Passes an outcome to `onOutcome`, and what was thrown to `onError`. A failure that nothing was
 * thrown for, such as a forged signature, is only an outcome.
 */
export function callReportingHooks({ onError, onOutcome }: ReportingHooks, outcome: Outcome): void {
  const { error: failure } = outcome;
  // Copies: changes that a hook makes must not reach the response.
  if (CHANNELS.outcome?.hasSubscribers === true)
    CHANNELS.outcome.publish({ outcome: withRedactedIds(outcome) } satisfies OutcomeMessage);
  if (onError && failure) callErrorHook(onError, originsOf(failure), outcome);
  if (!onOutcome) return;
  callHook(onOutcome, withRedactedIds(outcome), (error) => {
    if (onError) callErrorHook(onError, [{ source: 'hook', error }], outcome);
  });
}

/** What `onError` is told of an attempt. */
export interface ErrorContext extends Omit<Identified, 'source'> {
  readonly outcome: OutcomeCode;
  readonly attemptsLeft?: number | undefined;
  readonly late?: boolean | undefined;
  readonly queued?: boolean | undefined;
}

/** Passes errors to `onError`, with what is known of their attempt. */
export function callErrorHook(
  onError: ErrorHook,
  thrown: readonly ErrorOrigin[],
  context: ErrorContext,
): void {
  if (thrown.length === 0) return;
  const ids = withRedactedIds(context);
  const { tenant, eventName, callId, key, webhookId, attempt, attemptsLeft } = ids;
  const info = {
    code: context.outcome,
    ...(tenant !== undefined && { tenant }),
    ...(eventName !== undefined && { eventName }),
    ...(callId !== undefined && { callId }),
    ...(key !== undefined && { key }),
    ...(webhookId !== undefined && { webhookId }),
    ...(attempt !== undefined && { attempt }),
    lastAttempt: attemptsLeft === 0,
    late: context.late === true,
    queued: context.queued === true,
  };
  for (const { error, source } of thrown)
    callHook((thrown) => onError(thrown, { ...info, source }), error);
}
