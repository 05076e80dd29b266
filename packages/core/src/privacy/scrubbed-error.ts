import { WebhookError, type WebhookErrorCode } from '../outcome/webhook-error.ts';
import { describeError, stackFrames } from './scrub.ts';

/** Somebody else's error as ours: where it came from, and a text that holds nothing of the body. */
export function scrubbedError(
  code: WebhookErrorCode,
  what: string,
  error: unknown,
  payload?: unknown,
): WebhookError {
  const scrubbed = new WebhookError(code, what + describeError(error, payload));
  scrubbed.stack = `${scrubbed.name}: ${scrubbed.message}\n${stackFrames(error)}`;
  return scrubbed;
}
