import { STATUS, type OutcomeCode } from '../outcome/outcomes.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { scrubbedError } from '../privacy/scrubbed-error.ts';
import type { Verdict } from './reporter.ts';

/** An error as a verdict; one that is not ours is a fault in a hook of the user, or in this package. */
export function failure(error: unknown): Verdict {
  // A hook's own error, of another version or about options, may have a code of no failure.
  const isFailure = (code: string): code is OutcomeCode =>
    Object.hasOwn(STATUS, code) && STATUS[code as OutcomeCode] >= 400;
  if (error instanceof WebhookError && isFailure(error.code)) return { outcome: error.code, error };
  return {
    outcome: 'handler-failed',
    error: scrubbedError('handler-failed', 'Unexpected: ', error),
  };
}
