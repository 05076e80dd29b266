import { SETTLE_FOR_MS } from '@call-webhooks/recovery';
import { badInput } from '../../errors.ts';
import { duration } from '../../terminal/format.ts';

/** How long stores remember handled events by default; milliseconds. */
export const REMEMBER_MS = 86_400_000;
/** So much may pass between the reading of `--since` and its check; milliseconds. */
const SLACK_MS = 60_000;

/** Which calls are looked at. */
export interface WindowOptions {
  readonly since: Date;
  readonly until?: Date;
  /** Milliseconds. */
  readonly rememberFor: number;
}

export interface Window {
  readonly since: Date;
  readonly until: Date;
}

/**
 * The window of the flags. The store is not asked how long it remembers, so the flag says it.
 * @throws CliError 2 for a window that is empty, or longer than the store remembers
 */
export function windowOf({ since, until, rememberFor }: WindowOptions, now: number): Window {
  const end = until ?? new Date(now - SETTLE_FOR_MS);
  if (since >= end)
    throw badInput(
      '--since has to be before --until.',
      until ? 'Give a longer window.' : 'Without --until, it looks at calls up to 10 minutes ago.',
    );
  const asked = now - since.getTime();
  if (asked > rememberFor + SLACK_MS)
    throw badInput(
      `--since is ${duration(asked)} ago, but the receiver's store is assumed to remember handled events for ${duration(rememberFor)}. Older ones would look missed and run again.`,
      `Begin later. If the store remembered longer when these calls were handled, pass its rememberFor: --remember-for ${String(Math.ceil((asked - SLACK_MS) / 3_600_000))}h.`,
    );
  return { since, until: end };
}
