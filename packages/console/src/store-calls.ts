import { WebhookError, type Logger } from '@call-webhooks/core';
import { docsUrl, loggedError, safeLogger } from '@call-webhooks/core/internal';
import type { StoreRetry } from '@call-webhooks/recovery';
import { invalid, RequestError } from './http/answer.ts';

/** How long a store may take to answer a request; milliseconds. */
export const STORE_MS = 5_000;

export class NoAnswerError extends Error {}

/**
 * The result of a promise, if it comes in time.
 * @param ms milliseconds
 * @param problem for the log
 * @throws NoAnswerError if it does not; and what the promise rejects with
 */
export async function inTime<T>(asked: Promise<T>, ms: number, problem: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new NoAnswerError(`${problem} within ${String(ms)} ms.`)), ms);
  });
  try {
    return await Promise.race([asked, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** What stores throw for a condition or a cursor that they cannot use. */
const REFUSALS: readonly string[] = ['invalid-options', 'invalid-cursor'];

/**
 * Asks a store, and logs why it fails.
 * @param what names the store: `'store of dead letters'`
 * @throws RequestError `store-unavailable`; `invalid-request` if the store refuses what it was asked
 */
export async function askStore<T>(
  logger: Logger,
  what: string,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await inTime(call(), STORE_MS, `The ${what} did not respond`);
  } catch (error) {
    // These messages say what is wrong, and never quote a value.
    if (error instanceof WebhookError && REFUSALS.includes(error.code))
      throw invalid(error.message.replace(/\.$/, ''));
    logFailure(logger, `the ${what} failed`, error);
    throw new RequestError(
      'store-unavailable',
      `The ${what} failed. See the receiver's log for the error.`,
    );
  }
}

/** Logs an error, redacted. The answer to the request must say nothing of it. */
export function logFailure(logger: Logger, what: string, error: unknown): void {
  const { text, err } = loggedError(error);
  const docs = docsUrl('console.md');
  safeLogger(logger).error({ err, docs }, `call-webhooks: console: ${what}: ${text}`);
}

/** Counts in a task, and logs, how often a store failed and is asked again. */
export const countRetries =
  (task: { retries: number }, logger: Logger) =>
  ({ error, pauseMs }: StoreRetry): void => {
    task.retries += 1;
    logFailure(logger, `a store call failed, and will be retried in ${String(pauseMs)} ms`, error);
  };

/** For what somebody did. Nobody may miss it, so a logger without `info` gets a warning. */
export function auditLogger(logger: Logger): Required<Logger> {
  const safe = safeLogger(logger);
  return typeof logger.info === 'function' ? safe : { ...safe, info: safe.warn };
}

/** Logs what somebody did. */
export function logDone(logger: Logger, fields: object, what: string): void {
  const docs = docsUrl('console.md#security');
  auditLogger(logger).info({ ...fields, docs }, `call-webhooks: console: ${what}`);
}
