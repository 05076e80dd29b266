import { defined } from '../defined.ts';
import {
  type DeliveryContent,
  docsUrl,
  type ErrorOrigin,
  type ErrorSource,
  originsOf,
  WebhookError,
  withOrigin,
} from '../errors.ts';
import { type OutcomeCode, OUTCOMES, STATUS } from '../outcome-table.ts';
import type { DeliverySource, Outcome, PendingOutcome, Result } from '../outcomes.ts';
import { CHANNELS, type OutcomeMessage } from './channels.ts';
import {
  copiedFrames,
  errorText,
  loggedError,
  loggedFailure,
  newCopy,
  redactedCopy,
  redactedError,
} from './error-text.ts';
import { callHook } from './hooks.ts';
import { LineLimit, type Logger, safeLogger } from './logger.ts';
import { createRedactor, type Ids, type Redact, withRedactedIds } from './redact.ts';
import { UnhandledNames } from './unhandled.ts';

/**
 * What is known about the delivery whose error `onError` gets. It contains no personal data. It is a
 * type alias, so that error trackers can take it as a `Record<string, unknown>`.
 */
export type ErrorInfo = Pick<Outcome, keyof Ids | 'attempt'> & {
  /** The outcome of the attempt. */
  code: OutcomeCode;
  /** What failed, such as your handler, a schema, the store or `deadLetter`. */
  source: ErrorSource;
  /**
   * Whether it was the last attempt, after which the event goes to `deadLetter` or the worker gives up.
   * If `deadLetter` fails, the event is run again nevertheless.
   */
  lastAttempt: boolean;
  /** Whether the service had already received its response (`deadline`) when the error happened. */
  late: boolean;
  /** Whether the error happened in a queue worker. */
  queued: boolean;
};

/**
 * Called with an error as it was thrown, including its `cause`, and with what is known about its
 * delivery.
 */
export type ErrorHook = (error: unknown, info: ErrorInfo) => unknown;

/** Hooks for outcomes and errors. Errors that they throw are logged, at most once every 10 s. */
export interface ReportingHooks {
  /**
   * Called with the original error of each failed attempt, for an error tracker. It is also called with
   * an error that a handler throws after its transaction was committed, with the error of a
   * `completeIn` that was called too late, and with errors thrown by `waitUntil`. The error may contain
   * personal data and secrets. There is none by default.
   */
  onError?: ErrorHook | undefined;
  /**
   * Called with every outcome, for metrics. A delivery that misses its deadline has a second outcome
   * with `late: true`; ignore it when you count deliveries. There is none by default.
   */
  onOutcome?: ((outcome: Outcome) => unknown) | undefined;
}

interface ErrorContext extends Identified {
  readonly outcome: OutcomeCode;
  readonly attemptsLeft?: number | undefined;
  readonly late?: boolean | undefined;
  readonly queued?: boolean | undefined;
}

/** Passes errors to `onError`, if there is one, with what is known of their attempt. */
function callErrorHook(
  onError: ErrorHook | undefined,
  thrown: readonly ErrorOrigin[],
  context: ErrorContext,
): void {
  if (!onError || thrown.length === 0) return;
  const { tenant, eventName, callId, key, webhookId, attempt } = withRedactedIds(context);
  const info = {
    code: context.outcome,
    ...defined({ tenant, eventName, callId, key, webhookId, attempt }),
    lastAttempt: context.attemptsLeft === 0,
    late: context.late === true,
    queued: context.queued === true,
  };
  for (const { error, source } of thrown)
    callHook((thrown) => onError(thrown, { ...info, source }), error);
}

export interface LineOptions {
  readonly redact?: Redact | undefined;
  /** The number of attempts, or of a job's runs, after which an event goes to `deadLetter`. */
  readonly maxAttempts?: number | undefined;
}

/**
 * The log line of an outcome.
 * @param suppressed how many lines like it have been left out since the last one
 */
export function outcomeLine(
  outcome: Outcome,
  suppressed: number,
  { redact, maxAttempts }: LineOptions = {},
): { level: 'warn' | 'error'; fields: object; message: string } {
  const { outcome: code, status, error, late, durationMs, queued, attemptsLeft } = outcome;
  const { message, err } = error ? loggedFailure(error, redact) : { message: OUTCOMES[code].when };
  const what = queued ? runOf(outcome, maxAttempts) : `${String(status)} ${code}`;
  // Without attempts left there is no limit, or it is not ours.
  const limit = attemptsLeft === undefined ? undefined : maxAttempts;
  const fields = {
    outcome: code,
    status: queued ? undefined : status,
    ...deliveryFields(outcome),
    [queued ? 'maxRuns' : 'maxAttempts']: limit,
    retriedBy: retrierOf(outcome),
    late,
    durationMs: Math.round(durationMs),
    suppressed: suppressed > 0 ? suppressed : undefined,
    err,
    docs: docsUrl(`outcomes.md#${code}`),
  };
  // A dead letter needs attention, although the service is done with it.
  const isError = code === 'dead-lettered' || (status >= 500 && !queued);
  return {
    level: isError ? 'error' : 'warn',
    message: `call-webhooks: ${what}: ${message}`,
    fields: defined(fields),
  };
}

function runOf({ outcome, attempt = 1 }: Outcome, maxRuns: number | undefined): string {
  if (outcome === 'dead-lettered')
    return `gave up after ${attempt === 1 ? '1 attempt' : `${String(attempt)} attempts`}`;
  const of = maxRuns === undefined ? '' : ` of ${String(maxRuns)}`;
  return `attempt ${String(attempt)}${of} failed`;
}

const RETRIERS: Partial<Record<DeliverySource, 'service' | 'queue' | 'reconciler'>> = {
  webhook: 'service',
  queue: 'queue',
  // It finds the event again in its next run.
  reconcile: 'reconciler',
};

/** The service retries only its own deliveries, and any client can send forged ones. */
function retrierOf({ outcome, source, webhookId }: Outcome) {
  if (webhookId === undefined) return undefined;
  // A replay is a copy of a request that was already answered.
  const isRetried = OUTCOMES[outcome].service === 'retried' && outcome !== 'replayed';
  return (isRetried && RETRIERS[source]) || 'nobody';
}

/** The service was answered with a failure, so the retry that it sends is not a sign of a problem. */
function logLateSuccess(outcome: Outcome, log: Logger): void {
  const { outcome: code, late, durationMs, handlerMs = 0 } = outcome;
  const seconds = (ms: number) => String(Math.round(ms / 100) / 10);
  safeLogger(log).warn(
    {
      ...{ outcome: code, ...deliveryFields(outcome), late },
      ...{ durationMs: Math.round(durationMs), docs: docsUrl('outcomes.md#deadline') },
    },
    `call-webhooks: the handler finished after its deadline: it took ${seconds(handlerMs)} s. The event is done, and the service's retry will be a duplicate.`,
  );
}

/** What identifies a delivery in log lines. */
export type Identified = {
  readonly [Name in keyof Ids | 'attempt' | 'source']?: Outcome[Name] | undefined;
};

/** The fields that identify the delivery of a log line. */
export function deliveryFields(delivery: Identified) {
  const { tenant, eventName, callId, key, webhookId, attempt, source } = delivery;
  return defined({
    ...withRedactedIds({ tenant, eventName, callId, key, webhookId }),
    attempt,
    source: source === 'webhook' ? undefined : source,
  });
}

/** Anyone on the network can cause these, so each code is logged at most once every 10 s. */
const RATE_LIMITED = new Set<OutcomeCode>([
  'missing-header',
  'malformed-header',
  'timestamp-out-of-tolerance',
  'signature-mismatch',
  'method-not-allowed',
  'body-timeout',
  'replayed',
  'body-too-large',
  'unsupported-encoding',
  'body-already-parsed',
  'secret-unavailable',
]);

/** Where outcomes are counted, for the outcome log. */
interface OutcomeSink {
  add(outcome: Outcome): void;
}

/** Turns results into outcomes, passes them to the user's hooks, and writes the log lines. */
export class Reporter {
  readonly #settings: ReportingHooks & LineOptions;
  readonly #writer: OutcomeSink | undefined;
  readonly #limits = new Map<OutcomeCode, LineLimit>();
  readonly #unhandled = new UnhandledNames();

  /** @param writer absent without an outcome log */
  constructor(settings: ReportingHooks & LineOptions, writer?: OutcomeSink) {
    this.#settings = settings;
    this.#writer = writer;
  }

  /**
   * Creates the outcome. `onError` is not called for a failure without a thrown error, such as a forged
   * signature.
   * @param startedAt `performance.now()` when the request arrived
   * @param maxAttempts for the log line; that of the settings by default
   */
  report(
    startedAt: number,
    pending: PendingOutcome,
    { outcome: code, error }: Result,
    log: Logger,
    late = false,
    maxAttempts = this.#settings.maxAttempts,
  ): Outcome {
    const outcome: Outcome = {
      outcome: code,
      status: STATUS[code],
      durationMs: performance.now() - startedAt,
      ...pending,
    };
    if (error) outcome.error = error;
    if (late) outcome.late = true;
    if (outcome.status >= 400 || code === 'dead-lettered') this.#log(outcome, log, maxAttempts);
    if (code === 'ignored') this.#logUnhandled(outcome, log);
    if (late && code === 'handled') logLateSuccess(outcome, log);
    this.#writer?.add(outcome);
    const { onError, onOutcome } = this.#settings;
    // Copies: changes that a hook makes must not reach the response.
    if (CHANNELS.outcome?.hasSubscribers === true)
      CHANNELS.outcome.publish({ outcome: withRedactedIds(outcome) } satisfies OutcomeMessage);
    if (error) callErrorHook(onError, originsOf(error), outcome);
    if (onOutcome)
      callHook(onOutcome, withRedactedIds(outcome), (thrown) => {
        callErrorHook(onError, [{ source: 'hook', error: thrown }], outcome);
      });
    return outcome;
  }

  /** Passes a handler that runs beyond its deadline to the platform's `waitUntil`. */
  keepAlive(
    work: Promise<unknown>,
    waitUntil: (work: Promise<unknown>) => unknown,
    pending: PendingOutcome,
    log: Logger,
  ): void {
    callHook(waitUntil, work, (error) => {
      const { text, err } = loggedError(error, this.#settings.redact);
      safeLogger(log).warn(
        { ...deliveryFields(pending), err, docs: docsUrl('serverless.md#work-after-the-response') },
        `call-webhooks: waitUntil failed: ${text}`,
      );
      const context = { outcome: 'deadline', ...pending } as const;
      callErrorHook(this.#settings.onError, [{ source: 'hook', error }], context);
    });
  }

  #log(outcome: Outcome, log: Logger, maxAttempts: number | undefined): void {
    const suppressed = this.#suppressedLines(outcome);
    if (suppressed === undefined) return;
    const options = { redact: this.#settings.redact, maxAttempts };
    const { level, fields, message } = outcomeLine(outcome, suppressed, options);
    safeLogger(log)[level](fields, message);
  }

  #logUnhandled(outcome: Outcome, log: Logger): void {
    const line = this.#unhandled.lineOf(outcome.eventName);
    if (!line) return;
    const fields = { outcome: outcome.outcome, ...deliveryFields(outcome), docs: line.docs };
    safeLogger(log).warn(fields, line.message);
  }

  /** The number of lines left out since the last one, or `undefined` to leave this one out too. */
  #suppressedLines({ outcome: code, tenant }: Outcome): number | undefined {
    // A tenant that sends too much must not fill the log as well, nor must a store that is down.
    const isFlood = code === 'store-unavailable' || (code === 'overloaded' && tenant !== undefined);
    if (!isFlood && !RATE_LIMITED.has(code)) return 0;
    const limit = this.#limits.get(code) ?? new LineLimit();
    this.#limits.set(code, limit);
    return limit.pass();
  }
}

/**
 * The result of a delivery that failed with this error. An error that is not a `WebhookError` is a
 * bug in a hook of the user or in this package.
 */
export function failureResult(error: unknown): Result {
  // A `WebhookError` from a hook, or from another version, may have a code that is not a failure.
  const isFailure = (code: string): code is OutcomeCode =>
    Object.hasOwn(STATUS, code) && STATUS[code as OutcomeCode] >= 400;
  if (error instanceof WebhookError && isFailure(error.code)) return { outcome: error.code, error };
  const failure = redactedError('handler-failed', 'Unexpected error: ', error);
  return { outcome: 'handler-failed', error: withOrigin(failure, { source: 'hook', error }) };
}

const WITHHELD = 'its message is withheld, because it may quote the event.';

/**
 * Returns the same hooks. Errors thrown by `onError`, or by `onOutcome` if there is no `onError`, are
 * logged at most once every 10 s: otherwise it would go unnoticed that an error tracker is not set up.
 */
export function withWarnings(
  { onError, onOutcome }: ReportingHooks,
  logger: Logger,
): ReportingHooks {
  const limit = new LineLimit();
  const warn = (hook: keyof ReportingHooks) => (error: unknown) => {
    const suppressed = limit.pass();
    if (suppressed === undefined) return;
    // Its message and its causes may quote what the hook was called with.
    const copy = redactedCopy(error, createRedactor());
    const err = newCopy(copy.name, WITHHELD, copiedFrames(copy));
    const docs = docsUrl('observability.md#errors');
    safeLogger(logger).warn(
      { hook, ...(suppressed > 0 && { suppressed }), err, docs },
      `call-webhooks: the hook ${hook} failed: ${err.name}: ${err.message}`,
    );
  };
  return {
    onError:
      onError &&
      ((error, info) => callHook((thrown) => onError(thrown, info), error, warn('onError'))),
    // If there is an `onError`, it gets the errors that `onOutcome` throws.
    onOutcome:
      onOutcome && !onError
        ? (outcome) => callHook(onOutcome, outcome, warn('onOutcome'))
        : onOutcome,
  };
}

/** An error that concerns an event that is done. */
export interface AfterCommit {
  readonly error: unknown;
  /** What the error means for the event. */
  readonly kind: 'failed-after-commit' | 'late-transaction';
  readonly route: Pick<Identified, 'eventName' | 'callId' | 'key'> & {
    readonly outcome: OutcomeCode;
    readonly sensitiveData: DeliveryContent | undefined;
  };
  readonly delivery: Pick<Identified, 'tenant' | 'webhookId' | 'source'> & { readonly log: Logger };
  readonly attempt: number;
  /** Whether the service got its response before. */
  readonly late: boolean;
}

const KINDS = {
  'failed-after-commit': {
    level: 'warn',
    message: 'The handler failed after its transaction had been committed, so the event is done',
  },
  // It may not be reported anywhere else: the handler does not wait for this error.
  'late-transaction': {
    level: 'error',
    message:
      'The event is done, but its handler called completeIn too late in a transaction, which was refused, so the writes of that transaction are lost',
  },
} as const;

/** The event is done, so its outcome does not report this error. */
export function reportAfterCommit(
  { error, kind, route, delivery, attempt, late }: AfterCommit,
  { redact, onError }: { redact?: Redact | undefined; onError?: ErrorHook | undefined },
): void {
  const { tenant, webhookId, log, source } = delivery;
  const { level, message } = KINDS[kind];
  const err = redactedCopy(error, createRedactor(redact, route.sensitiveData));
  safeLogger(log)[level](
    {
      ...deliveryFields({ tenant, webhookId, ...route, attempt, source }),
      retriedBy: 'nobody',
      err,
      docs: docsUrl('exactly-once.md#your-own-database'),
    },
    `call-webhooks: ${message}: ${errorText(err)}`,
  );
  const queued = source === 'queue';
  const context = { ...route, tenant, webhookId, attempt, attemptsLeft: 0, late, queued };
  callErrorHook(onError, [{ source: 'handler', error }], context);
}
