import type { DeadLetters, StoredDeadLetter } from '@call-webhooks/core';
import type { DeadLetterFilter } from '@call-webhooks/core/stores';
import { Option, type Command } from 'commander';
import { badInput } from '../../errors.ts';
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

/**
 * The letter with this id, or with an id that begins so.
 * @throws CliError 2 when there is none, or more than one
 */
export async function findLetter(deadLetters: DeadLetters, id: string): Promise<StoredDeadLetter> {
  const exact = await deadLetters.get(id);
  if (exact) return exact;
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await deadLetters.list({ limit: 1_000, cursor });
    found.push(...page.letters.map((letter) => letter.id).filter((one) => one.startsWith(id)));
    cursor = page.cursor;
  } while (cursor !== undefined && found.length < 2);
  const [only, another] = found;
  const letter = only === undefined ? undefined : await deadLetters.get(only);
  if (!letter)
    throw badInput(`There is no dead letter ${id}.`, 'List them: call-webhooks dead-letters list');
  if (another) throw badInput(`Several dead letters begin with ${id}.`, 'Give more of the id.');
  return letter;
}
