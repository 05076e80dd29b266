import { docsUrl } from '../errors.ts';
import { loggedError } from '../report/error-text.ts';
import { safeLogger, type Logger } from '../report/logger.ts';

const SWEEP_EVERY = 100;

/** How old rows of a store are deleted, and what is logged if that fails. */
export interface Sweeping {
  /** Deletes a bounded number of old rows. */
  sweep: () => Promise<unknown>;
  /** Gets one warning for all failures together. */
  logger: Logger;
  /** The name of the database in the warning, such as `Postgres`. */
  database: string;
  /**
   * The link in the warning: a URL, or a page and anchor of the call-webhooks documentation, such as
   * `stores.md#redis`.
   */
  docs: string;
}

/** Deletes old rows of a store in the background. */
export interface Sweeper {
  /** To be called for each claim. It returns at once, and never throws. */
  count(): void;
  /** Resolves when no sweep is running. Never rejects. */
  idle(): Promise<void>;
}

/**
 * Deletes old rows of a store in the background, while claims add new ones: after the first claim of a
 * process, so that short-lived processes do it as well, and after every hundredth claim from then on. A
 * process runs one sweep at a time, and a claim does not wait for it.
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
      if (claims++ % SWEEP_EVERY !== 0) return;
      running ??= run().finally(() => {
        running = undefined;
      });
    },
    async idle() {
      await running;
    },
  };
}
