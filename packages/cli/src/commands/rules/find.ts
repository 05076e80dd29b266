import type { Action, Rule } from '@call-webhooks/simulator';
import { badInput } from '../../errors.ts';
import type { Connection } from '../../simulator/connection.ts';

const SEE_LIST = 'List them: call-webhooks rules list';

/** Finds a rule by its id or the beginning of it. @throws CliError 2 unless there is one */
export async function findRule(connection: Connection, id: string): Promise<Rule> {
  const rules = await connection.get<Rule[]>('/rules');
  return onlyMatch('rule', id, rules);
}

/** Finds an action of a rule. @throws CliError 2 unless there is one */
export const findActionOf = (rule: Rule, id: string): Action =>
  onlyMatch('action', id, rule.actions);

function onlyMatch<T extends { readonly _id: string }>(
  noun: string,
  id: string,
  all: readonly T[],
): T {
  const matching = all.filter(({ _id }) => id !== '' && _id.startsWith(id));
  const [first] = matching;
  if (!first) throw badInput(`There is no ${noun} ${id}.`, SEE_LIST);
  if (matching.length > 1)
    throw badInput(
      `${String(matching.length)} ${noun}s start with ${id}.`,
      'Give more characters of the id.',
    );
  return first;
}
