import { docsUrl } from '../outcome/webhook-error.ts';
import { errorDetails } from '../redact/error-details.ts';
import { errorCopy } from '../redact/error-text.ts';
import { createRedactor } from '../redact/redactor.ts';
import type { ReportingHooks } from './hooks.ts';
import { callHook, safeLogger, type Logger } from './logger.ts';

const INTERVAL_MS = 10_000;
const WITHHELD = {
  message: 'its message is withheld, as it may quote the event.',
  code: undefined,
  cause: undefined,
  errors: [],
};

/**
 * The same hooks. What `onError` throws, or `onOutcome` if there is no `onError`, is told to the logger
 * at most once in 10 s: otherwise nobody would notice that an error tracker is not set up.
 */
export function withWarnings(
  { onError, onOutcome }: ReportingHooks,
  logger: Logger,
): ReportingHooks {
  const log = safeLogger(logger);
  let last: { at: number; suppressed: number } | undefined;

  const warn = (hook: keyof ReportingHooks) => (error: unknown) => {
    const now = performance.now();
    if (last && now - last.at < INTERVAL_MS) {
      last.suppressed += 1;
      return;
    }
    const suppressed = last?.suppressed ?? 0;
    last = { at: now, suppressed: 0 };
    // Its message and its causes may quote what the hook was called with.
    const details = errorDetails(error, createRedactor());
    const err = errorCopy({ ...details, ...WITHHELD });
    log.warn(
      {
        hook,
        ...(suppressed > 0 && { suppressed }),
        err,
        docs: docsUrl('observability.md#errors'),
      },
      `call-webhooks: The hook ${hook} failed: ${err.name}: ${err.message}`,
    );
  };

  return {
    onError:
      onError &&
      ((error, info) => {
        callHook((thrown) => onError(thrown, info), error, warn('onError'));
      }),
    // With `onError`, that is told what it throws.
    onOutcome:
      onError || !onOutcome
        ? onOutcome
        : (outcome) => {
            callHook(onOutcome, outcome, warn('onOutcome'));
          },
  };
}
