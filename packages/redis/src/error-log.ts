import type { Logger } from '@call-webhooks/core';

const REPEAT_AFTER_MS = 10_000;

/** A listener for `error` events: BullMQ tells of each try to connect again, which is many lines. */
export function errorLog(logger: Logger): (error: Error) => void {
  let lastAt = -Infinity;
  return ({ message }) => {
    const now = performance.now();
    if (now - lastAt < REPEAT_AFTER_MS) return;
    lastAt = now;
    logger.warn(`call-webhooks: the BullMQ worker: ${message.slice(0, 200) || 'no connection'}`);
  };
}
