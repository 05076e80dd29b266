import type { Logger, Redact } from '@call-webhooks/core';
import { docsUrl, loggedError } from '@call-webhooks/core/internal';

const REPEAT_AFTER_MS = 10_000;

/** A listener for `error` events. BullMQ emits one for each attempt to reconnect; few are logged. */
export function errorLog(logger: Logger, redact?: Redact): (error: unknown) => void {
  let lastAt = -Infinity;
  return (error) => {
    const now = performance.now();
    if (now - lastAt < REPEAT_AFTER_MS) return;
    lastAt = now;
    const { text, err } = loggedError(error, redact);
    logger.warn(
      { err, docs: docsUrl('queues.md#bullmq') },
      `call-webhooks: BullMQ's worker: ${text}`,
    );
  };
}
