import { docsUrl } from '../errors.ts';
import { loggedError } from '../report/error-text.ts';
import { safeLogger, type Logger } from '../report/logger.ts';

const SWEEP_EVERY = 100;

/** What deletes old rows of a store, and what is said if that fails. */
export interface Sweeping {
  /** Deletes a bounded number of old rows. */
  sweep: () => Promise<unknown>;
  /** Gets one warning for all failures. */
  logger: Logger;
  /** The name of the database in the warning, such as `Postgres`. */
  database: string;
  /**
   * What the warning links to: a URL, or a page of the documentation of call-webhooks with its anchor, such as
   * `stores.md#redis`.
   */
  docs: string;
}

/** Sweeps beside the claims of a store. */
export interface Sweeper {
  /** To be called for each claim. It returns at once, and never throws. */
  count(): void;
  /** Resolves when no sweep runs any more. Never rejects. */
  idle(): Promise<void>;
}

/**
 * Deletes old rows of a store beside the claims that add new ones: after the first claim of a process, so that
 * short-lived ones do it as well, and after every hundredth from then on. One sweep of a process runs at a time.
 * A claim does not wait for it.
 * @example
 * const sweeper = sweepingBeside({ sweep, logger: console, database: 'MongoDB', docs: 'https://example.com/store' });
 * sweeper.count(); // in `admit`
 * await sweeper.idle(); // in `close`
 */
export function sweepingBeside({ sweep, logger, database, docs }: Sweeping): Sweeper {
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
    async idle() {
      await running;
    },
  };
}
