import {
  type DeliveryContent,
  type ErrorOrigin,
  originsOf,
  WebhookError,
  withOrigin,
} from '../errors.ts';
import { describeError } from '../report/error-text.ts';
import type { DeadLetter, DeadLetterSink } from './dead-letter.ts';

/**
 * Hands over a delivery that is given up. If the sink fails, `failed` says so as well, and the delivery
 * has to be retried.
 * @param failed why the delivery is given up
 * @param content of the delivery, for the text of the sink's error. Without it, nothing could be redacted
 *   from that error, which may quote the body
 * @returns whether the sink keeps the letter
 */
export async function handOver(
  sink: DeadLetterSink,
  letter: DeadLetter,
  failed: WebhookError,
  content: DeliveryContent | undefined,
): Promise<boolean> {
  try {
    await sink(letter);
    return true;
  } catch (error) {
    const text = content
      ? describeError(error, content)
      : 'its error may quote the body and is withheld';
    failed.message = `${failed.message.replace(/\.$/, '')}. The deadLetter sink failed: ${text}`;
    const origin = { source: 'dead-letter', error, sensitiveData: content } as const;
    alsoThrown(failed, [content ? origin : { ...origin, isWithheld: true }]);
    return false;
  }
}

/** Adds what failed on top of an error. What is no `WebhookError` stays as it is. */
export const alsoThrown = (error: unknown, thrown: readonly ErrorOrigin[]): unknown =>
  error instanceof WebhookError ? withOrigin(error, ...originsOf(error), ...thrown) : error;
