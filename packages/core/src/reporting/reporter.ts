import { withOrigin } from '../outcome/origin.ts';
import { STATUS, type OutcomeCode } from '../outcome/outcomes.ts';
import type { Outcome } from '../outcome/response.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { redactedError } from '../redact/error-text.ts';
import { callReportingHooks, type ReportingHooks } from './hooks.ts';
import { safeLogger, type Logger } from './logger.ts';
import { outcomeLine, type LineOptions } from './outcome-line.ts';

/** What is known about a request so far. It fills up on the way through the receiver. */
export type DeliveryInfo = Pick<
  Outcome,
  | 'source'
  | 'tenant'
  | 'webhookId'
  | 'eventName'
  | 'callId'
  | 'key'
  | 'attempt'
  | 'attemptsLeft'
  | 'secretId'
  | 'handlerMs'
  | 'storeMs'
  | 'waitMs'
  | 'lagMs'
  | 'queued'
>;

/** How one request ended. */
export interface Result {
  readonly outcome: OutcomeCode;
  readonly error?: WebhookError | undefined;
}

/** Anyone on the network can cause these, so they are logged at most once in 10 s for each code. */
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
const LOG_INTERVAL_MS = 10_000;

/** Makes outcomes of results, passes them to the user's hooks, and writes the log lines. */
export class Reporter {
  readonly #hooks: ReportingHooks;
  readonly #options: LineOptions;
  readonly #lastLines = new Map<OutcomeCode, { at: number; suppressed: number }>();

  constructor(hooks: ReportingHooks, options: LineOptions = {}) {
    this.#hooks = hooks;
    this.#options = options;
  }

  /** @param startedAt `performance.now()` when the request arrived */
  report(
    startedAt: number,
    info: DeliveryInfo,
    { outcome: code, error }: Result,
    log: Logger,
    late = false,
  ): Outcome {
    const outcome: Outcome = {
      outcome: code,
      status: STATUS[code],
      durationMs: performance.now() - startedAt,
      ...info,
    };
    if (error) outcome.error = error;
    if (late) outcome.late = true;
    if (outcome.status >= 400 || code === 'dead-lettered') this.#log(outcome, log);
    callReportingHooks(this.#hooks, outcome);
    return outcome;
  }

  #log(outcome: Outcome, log: Logger): void {
    const suppressed = this.#suppressedLines(outcome);
    if (suppressed === undefined) return;
    const { level, fields, message } = outcomeLine(outcome, suppressed, this.#options);
    safeLogger(log)[level](fields, message);
  }

  /** The number of lines left out since the last one, or `undefined` to leave this one out too. */
  #suppressedLines({ outcome: code, tenant }: Outcome): number | undefined {
    // A tenant that sends too much must not fill the log as well.
    const isFlood = code === 'overloaded' && tenant !== undefined;
    if (!isFlood && !RATE_LIMITED.has(code)) return 0;
    const last = this.#lastLines.get(code);
    const now = performance.now();
    if (last && now - last.at < LOG_INTERVAL_MS) {
      last.suppressed += 1;
      return undefined;
    }
    this.#lastLines.set(code, { at: now, suppressed: 0 });
    return last?.suppressed ?? 0;
  }
}

/**
 * The result of a delivery that failed with this error. An error that is not a `WebhookError` is a
 * bug in a hook of the user or in this package.
 */
export function failureResult(error: unknown): Result {
  // A `WebhookError` of a hook, or of another version, may have a code that is no failure.
  const isFailure = (code: string): code is OutcomeCode =>
    Object.hasOwn(STATUS, code) && STATUS[code as OutcomeCode] >= 400;
  if (error instanceof WebhookError && isFailure(error.code)) return { outcome: error.code, error };
  const failure = redactedError('handler-failed', 'Unexpected error: ', error);
  return { outcome: 'handler-failed', error: withOrigin(failure, { source: 'hook', error }) };
}
