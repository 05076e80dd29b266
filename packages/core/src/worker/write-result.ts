import { docsUrl } from '../outcome/webhook-error.ts';
import { loggedError } from '../reporting/logged-error.ts';
import type { Logger } from '../reporting/logger.ts';
import { deliveryFields, type Identified } from '../reporting/outcome-line.ts';

/** Milliseconds until a refused write is repeated: doubled each time, up to a limit. */
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 4_000;
/** A shorter outage is not logged; milliseconds. */
const LOG_AFTER_MS = 5_000;

interface ResultWrite {
  /** Writes the result to the engine. */
  write: () => Promise<unknown>;
  /** When to give up; milliseconds of `performance.now()`. */
  until: number;
  /** Aborted when the worker stops: the result is then written once more. */
  stop: AbortSignal;
  log: Required<Logger>;
  /** For log lines. */
  delivery: Identified;
}

/**
 * Writes the result of a job, again and again while the engine refuses: an outage must not make a
 * handler run twice. Logs long refusals, and how they ended.
 */
export async function writeResult({
  write,
  until,
  stop,
  log,
  delivery,
}: ResultWrite): Promise<void> {
  const startedAt = performance.now();
  let isLogged = false;
  let reason = '';
  const fields = {
    ...deliveryFields(delivery),
    docs: docsUrl('queues.md#what-they-promise'),
  };
  let failed: object = fields;
  let delay = FIRST_DELAY_MS;
  while (performance.now() < until) {
    try {
      await write();
      if (isLogged)
        log.info(fields, 'call-webhooks: the queue took the result of the job at last.');
      return;
    } catch (error) {
      const { text, err } = loggedError(error);
      reason = text.replace(/\.?$/, '.');
      failed = { ...fields, err };
    }
    if (stop.aborted) break;
    if (!isLogged && performance.now() - startedAt >= LOG_AFTER_MS) {
      isLogged = true;
      log.warn(
        failed,
        `call-webhooks: the queue refuses the result of a job: ${reason} It is written again until the queue takes it or the worker stops.`,
      );
    }
    await sleep(Math.min(delay, until - performance.now()), stop);
    delay = Math.min(MAX_DELAY_MS, delay * 2);
  }
  if (isLogged)
    log.warn(
      failed,
      `call-webhooks: the queue never took the result of a job: ${reason} The job runs again.`,
    );
}

/** Ends early when the signal is aborted. */
function sleep(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stop.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.max(0, ms));
    stop.addEventListener('abort', end, { once: true });
  });
}
