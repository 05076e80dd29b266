import type { DeadLetterFilter } from '@call-webhooks/core/stores';
import { Option, type Command } from 'commander';
import { time } from '../../input/time.ts';

/** The flags that select dead letters. */
export interface FilterOptions {
  readonly event?: string;
  readonly reason?: 'handler-failed' | 'invalid-payload';
  readonly since?: Date;
  readonly until?: Date;
  readonly tenant?: string;
}

/** Adds `--event`, `--reason`, `--since` and `--until`. */
export const withFilterOptions = (command: Command): Command =>
  command
    .option('--event <name>', 'only of this event')
    .addOption(
      new Option('--reason <reason>', 'only those').choices(['handler-failed', 'invalid-payload']),
    )
    .option('--since <time>', 'failed then or later: 2h (ago), 2026-01-31T12:00Z', time)
    .option('--until <time>', 'failed before', time);

/** The filter of the flags; `undefined` if none is given. */
export function filterOf({
  event,
  reason,
  since,
  until,
  tenant,
}: FilterOptions): DeadLetterFilter | undefined {
  const given = [event, reason, since, until, tenant].some((value) => value !== undefined);
  return given ? { eventName: event, reason, since, until, tenant } : undefined;
}
