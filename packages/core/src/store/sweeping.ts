import { docsUrl } from '../errors.ts';
import { loggedError } from '../report/error-text.ts';
import { safeLogger, type Logger } from '../report/logger.ts';

const SWEEP_EVERY = 100;

/** What deletes old rows of a store. */
export interface Sweeping {
  sweep: () => Promise<unknown>;
  /** Gets one warning if that fails. */
  logger: Logger;
  /** For the warning, such as `Postgres`. */
  database: string;
  /** The page about it, and its heading. */
  docs: string;
}

/**
 * Deletes old rows beside the claims that add new ones: after the first claim, so that short-lived
 * processes do it as well, and then after every hundredth. One sweep runs at a time.
 */
export function sweepingBeside({ sweep, logger, database, docs }: Sweeping) {
  let claims = 0;
  let running: Promise<void> | undefined;
  let hasWarned = false;

  async function run(): Promise<void> {
    try {
      await sweep();
    } catch (error) {
      if (!hasWarned) warn(error);
      hasWarned = true;
    }
    running = undefined;
  }

  function warn(error: unknown): void {
    const { text, err } = loggedError(error);
    safeLogger(logger).warn(
      { err, docs: docsUrl(docs) },
      `call-webhooks: deleting old rows of the ${database} store failed: ${text}`,
    );
  }

  return {
    count() {
      if (claims++ % SWEEP_EVERY === 0) running ??= run();
    },
    idle: async () => running,
  };
}
