import type { Logger } from '@call-webhooks/core';

const REPEAT_AFTER_MS = 10_000;

/** A listener for `error` events. BullMQ emits one for each attempt to reconnect; few are logged. */
export function errorLog(logger: Logger): (error: Error) => void {
  let lastAt = -Infinity;
  return ({ message }) => {
    const now = performance.now();
    if (now - lastAt < REPEAT_AFTER_MS) return;
    lastAt = now;
    logger.warn(`call-webhooks: BullMQ's worker: ${message.slice(0, 200) || 'no connection'}`);
  };
}
