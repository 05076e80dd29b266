import { docsUrl, safeLogger, type Logger } from '@call-webhooks/core';

/** The part that we read of Lambda's context. */
export interface LambdaContext {
  getRemainingTimeInMillis(): number;
}

/** The response has to reach Lambda before the function's timeout; milliseconds. */
const MARGIN_MS = 1_000;
const docs = docsUrl('raw-body.md#work-after-the-response');

/**
 * Waits for handlers that run beyond their deadline, since Lambda freezes the function as soon as it
 * has responded. It stops waiting a second before the function's timeout.
 */
export async function waitForLateWork(
  work: readonly Promise<unknown>[],
  context: LambdaContext | undefined,
  logger: Logger,
): Promise<void> {
  // Outside of Lambda nothing is frozen.
  if (work.length === 0 || !context) return;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(resolve, context.getRemainingTimeInMillis() - MARGIN_MS, 'timeout');
  });
  const ended = await Promise.race([Promise.allSettled(work), timeout]);
  clearTimeout(timer);
  if (ended !== 'timeout') return;
  safeLogger(logger).warn(
    { docs },
    "call-webhooks: A handler still runs, but the function's timeout is near. Lambda freezes it now, so it may never end. Its lease expires, and the service's retry runs the event again. Raise the function's timeout, or use a queue.",
  );
}

/** Warns, once, of a timeout that ends the function before the receiver can respond. */
export function timeoutWarning(
  ackWithin: number,
  logger: Logger,
): (context: LambdaContext | undefined) => void {
  let warned = false;
  return (context) => {
    if (warned || !context) return;
    const remaining = context.getRemainingTimeInMillis();
    if (remaining >= ackWithin + MARGIN_MS) return;
    warned = true;
    safeLogger(logger).warn(
      { ackWithin, remaining, docs },
      `call-webhooks: The function's timeout leaves ${String(remaining)} ms, so a slow handler is killed before ackWithin (${String(ackWithin)} ms) is over. Set the timeout to at least a second more than ackWithin: 29 seconds are a good value.`,
    );
  };
}
