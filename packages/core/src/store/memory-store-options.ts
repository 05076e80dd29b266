import { checkOptions, option } from '../check-options.ts';
import { docsUrl } from '../outcome/webhook-error.ts';
import { safeLogger, type Logger } from '../reporting/logger.ts';

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** How many webhook ids, and how many events, are remembered: 1 to 1e9. Default: 100,000. */
  maxEntries?: number | undefined;
  /**
   * How long a handled event is known as a duplicate, in milliseconds. Default: 24 hours. At least
   * 10 minutes, because the service retries.
   */
  rememberFor?: number | undefined;
  /**
   * A clock for tests, in milliseconds. Default: `Date.now` for webhook ids, whose signatures are
   * dated by the wall clock, and `performance.now` for leases and events, which must not change when
   * the wall clock is set.
   */
  now?: (() => number) | undefined;
  /**
   * Called when a webhook id or an event is evicted before its time because `maxEntries` is too
   * small. Default: `logger` gets one warning. What it throws, or rejects with, is ignored.
   */
  onEvicted?: ((evicted: { kind: 'webhook-id' | 'event' }) => void) | undefined;
  /** Gets a warning if ids are evicted; `console` by default. */
  logger?: Logger | undefined;
}

const rules = () => ({
  maxEntries: option.default(option.count(1, 1e9), 100_000),
  rememberFor: option.rememberFor(),
  now: option.optional(option.function<() => number>()),
  onEvicted: option.optional(option.function<NonNullable<MemoryStoreOptions['onEvicted']>>()),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

/**
 * Checks the options and fills in the defaults.
 * @throws WebhookError `invalid-options`, which names every invalid option
 */
export function checkMemoryStoreOptions(options: MemoryStoreOptions) {
  const checked = checkOptions('memoryStore', rules(), options);
  return { ...checked, onEvicted: checked.onEvicted ?? warnOnce(checked.logger) };
}

function warnOnce(logger: Logger): () => void {
  let warned = false;
  return () => {
    if (warned) return;
    warned = true;
    const message =
      'the memory store is full and is evicting ids early. Raise maxEntries, or use a Redis, Postgres, SQLite or Durable Objects store.';
    safeLogger(logger).warn({ docs: docsUrl('stores.md#memory') }, `call-webhooks: ${message}`);
  };
}
