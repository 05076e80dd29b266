import type { Logger } from '@call-webhooks/core';
import { docsUrl, loggedError, safeLogger } from '@call-webhooks/core/internal';

/** Where log lines of the console link to. */
export const DOCS = docsUrl('console.md');

/** Logs an error, redacted. The answer to the request must say nothing of it. */
export function logFailure(logger: Logger, what: string, error: unknown): void {
  const { text, err } = loggedError(error);
  safeLogger(logger).error({ err, docs: DOCS }, `call-webhooks: console: ${what}: ${text}`);
}

/** Logs what somebody did. Nobody may miss it, so a logger without `info` gets a warning. */
export function logDone(logger: Logger, fields: object, what: string): void {
  const level = typeof logger.info === 'function' ? 'info' : 'warn';
  const docs = docsUrl('console.md#security');
  safeLogger(logger)[level]({ ...fields, docs }, `call-webhooks: console: ${what}`);
}
