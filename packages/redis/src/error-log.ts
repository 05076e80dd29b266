import { describeError, docsUrl, type Logger } from '@call-webhooks/core';

const REPEAT_AFTER_MS = 10_000;

/** A listener for `error` events. BullMQ emits one for each attempt to reconnect; few are logged. */
export function errorLog(logger: Logger): (error: unknown) => void {
  let lastAt = -Infinity;
  return (error) => {
    const now = performance.now();
    if (now - lastAt < REPEAT_AFTER_MS) return;
    lastAt = now;
    logger.warn(
      { docs: docsUrl('queues.md#bullmq') },
      `call-webhooks: BullMQ's worker: ${describeError(error)}`,
    );
  };
}
