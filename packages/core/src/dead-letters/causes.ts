import { causeOf } from '../report/cause.ts';
import { sha256 } from '../store/keys.ts';
import type { ListedDeadLetter } from './dead-letter.ts';

/** Dead letters that failed for the same cause. */
export interface DeadLetterCause {
  /** The same in all processes: 12 hexadecimal digits. */
  id: string;
  /** The error without ids, numbers and quoted texts. */
  text: string;
  count: number;
  /** When the first failure of any of them was, and the last one. */
  firstAt: Date;
  lastAt: Date;
  /** Sorted. */
  eventNames: string[];
  /** The id and the whole error of the letter that failed last. */
  example: { id: string; error: string };
}

/** The id of a cause, as `causeOf` gives it. */
export const causeId = async (cause: string): Promise<string> => (await sha256(cause)).slice(0, 12);

/** Groups dead letters by the cause of their last error: the most frequent first. */
export async function groupByCause(
  letters: Iterable<Pick<ListedDeadLetter, 'id' | 'error' | 'eventName' | 'failedAt' | 'history'>>,
): Promise<DeadLetterCause[]> {
  const groups = new Map<string, DeadLetterCause & { names: Set<string> }>();
  for (const { id, error, eventName = 'unknown', failedAt, history } of letters) {
    const text = causeOf(error);
    const firstAt = history[0]?.at ?? failedAt;
    const example = { id, error };
    let group = groups.get(text);
    if (!group) {
      const names = new Set<string>();
      const of = { id: await causeId(text), text, count: 0, eventNames: [], names };
      groups.set(text, (group = { ...of, firstAt, lastAt: failedAt, example }));
    }
    group.count += 1;
    group.names.add(eventName);
    if (firstAt < group.firstAt) group.firstAt = firstAt;
    if (failedAt >= group.lastAt) Object.assign(group, { lastAt: failedAt, example });
  }
  return [...groups.values()]
    .map(({ names, ...group }) => ({ ...group, eventNames: [...names].sort() }))
    .sort((one, other) => other.count - one.count || Number(other.lastAt) - Number(one.lastAt));
}
