import { docsUrl } from '../outcome/docs-url.ts';
import { STATUS, type OutcomeCode } from '../outcome/outcomes.ts';
import type { Outcome } from '../outcome/response.ts';
import type { WebhookError } from '../outcome/webhook-error.ts';
import type { Logger } from './logger.ts';
import { safeLogger } from './safe-logger.ts';

/** What is known of a request so far; it fills as the request goes through the receiver. */
export type Facts = Pick<
  Outcome,
  'webhookId' | 'eventName' | 'callId' | 'key' | 'attempt' | 'secretId'
>;

/** How one request ended. */
export interface Verdict {
  readonly outcome: OutcomeCode;
  readonly error?: WebhookError | undefined;
}

/** Anybody can cause these, so a flood of them must not become a flood of log lines. */
const ANYBODYS = new Set<OutcomeCode>([
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
/** Outcomes that are told in the log although nothing threw. */
const WITHOUT_ERROR: Partial<Record<OutcomeCode, string>> = {
  replayed: 'This webhook id was seen before.',
  'in-progress': 'Another delivery of this event is being handled.',
  'dead-lettered': 'Given up on, and handed to deadLetter.',
};
const REPEAT_AFTER_MS = 10_000;

/** Turns verdicts into outcomes, tells `onOutcome`, and writes the log lines. */
export class Reporter {
  readonly #onOutcome: ((outcome: Outcome) => void) | undefined;
  readonly #lines = new Map<OutcomeCode, { at: number; untold: number }>();

  constructor(onOutcome: ((outcome: Outcome) => void) | undefined) {
    this.#onOutcome = onOutcome;
  }

  /** @param startedAt `performance.now()` when the request came in */
  report(
    startedAt: number,
    facts: Facts,
    { outcome: code, error }: Verdict,
    log: Logger,
    late = false,
  ): Outcome {
    const outcome: Outcome = {
      outcome: code,
      status: STATUS[code],
      durationMs: performance.now() - startedAt,
      ...facts,
    };
    if (error) outcome.error = error;
    if (late) outcome.late = true;
    if (outcome.status >= 400 || code === 'dead-lettered') this.#log(outcome, log);
    this.#tell(outcome);
    return outcome;
  }

  /** A broken hook must not change what the service is answered, nor end the process. */
  #tell(outcome: Outcome): void {
    try {
      // A copy: what it does to it must not change the answer.
      const told: unknown = this.#onOutcome?.({ ...outcome });
      if (told instanceof Promise) told.catch(() => undefined);
    } catch {
      // It is the user's, and documented so.
    }
  }

  #log(outcome: Outcome, log: Logger): void {
    const untold = this.#untold(outcome.outcome);
    if (untold === undefined) return;
    const { outcome: code, status, error, late, webhookId, eventName, attempt } = outcome;
    const facts = [
      webhookId !== undefined && `webhook ${webhookId}`,
      eventName !== undefined && `event ${printable(eventName)}`,
      attempt !== undefined && `attempt ${String(attempt)}`,
      late && 'after its deadline',
      untold > 0 && `${String(untold)} more like it since the last line`,
    ].filter(Boolean);
    const frames =
      code === 'handler-failed' && error?.stack?.includes('\n')
        ? error.stack.slice(error.stack.indexOf('\n'))
        : '';
    const line = `call-webhooks: ${String(status)} ${code}: ${error?.message ?? WITHOUT_ERROR[code] ?? ''}`;
    const level = status >= 500 ? 'error' : 'warn';
    safeLogger(log)[level](
      `${line}${facts.length > 0 ? ` (${facts.join(', ')})` : ''} See ${docsUrl(`answers.md#${code}`)}${frames}`,
    );
  }

  /** How many like it went without a line; `undefined`: this one goes without as well. */
  #untold(code: OutcomeCode): number | undefined {
    if (!ANYBODYS.has(code)) return 0;
    const last = this.#lines.get(code);
    const now = performance.now();
    if (last && now - last.at < REPEAT_AFTER_MS) {
      last.untold += 1;
      return undefined;
    }
    this.#lines.set(code, { at: now, untold: 0 });
    return last?.untold ?? 0;
  }
}

/** Names come from the body: no line breaks, no terminal codes, no novels. */
const printable = (text: string) => text.slice(0, 100).replace(/[^\x20-\x7e]/g, '?');
