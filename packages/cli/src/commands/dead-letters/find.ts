import type { DeadLetters, StoredDeadLetter } from '@call-webhooks/core';
import { badInput } from '../../errors.ts';

/**
 * The letter with this id, or with an id that begins so.
 * @throws CliError 2 when there is none, or more than one
 */
export async function findLetter(deadLetters: DeadLetters, id: string): Promise<StoredDeadLetter> {
  const exact = await deadLetters.get(id);
  if (exact) return exact;
  const found: StoredDeadLetter[] = [];
  let cursor: string | undefined;
  do {
    const page = await deadLetters.list({ limit: 1_000, cursor });
    found.push(...page.letters.filter((letter) => letter.id.startsWith(id)));
    cursor = page.cursor;
  } while (cursor !== undefined && found.length < 2);
  const [only, another] = found;
  if (!only)
    throw badInput(`There is no dead letter ${id}.`, 'List them: call-webhooks dead-letters list');
  if (another) throw badInput(`Several dead letters begin with ${id}.`, 'Give more of the id.');
  return only;
}
