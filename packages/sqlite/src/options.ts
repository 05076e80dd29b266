import { option } from '@call-webhooks/core/internal';

/** What a store and a queue in a file have in common. */
export interface SqliteOptions {
  /** The names of the tables begin with it; `call_webhooks_` by default. Lower-case letters, digits and `_`. */
  prefix?: string | undefined;
  /**
   * How long a handled event is known as a duplicate; milliseconds, 24 hours by default, at least
   * 10 minutes.
   */
  rememberFor?: number | undefined;
  /** The clock, in milliseconds since the epoch; `Date.now` by default. All processes on the file need the same. */
  now?: (() => number) | undefined;
}

export const sqliteOptionRules = () => ({
  prefix: option.default(
    option.text(/^[a-z_][a-z0-9_]{0,62}$/, 'expected up to 63 lower-case letters, digits and _'),
    'call_webhooks_',
  ),
  rememberFor: option.rememberFor(),
  now: option.optional(option.function<() => number>()),
});
