import type { DeadLetterFilter, DeadLetterList } from '@call-webhooks/core/stores';
import { causeOf } from '../dead-letters/causes.ts';
import { ask } from '../read-rows.ts';
import {
  groupedBy,
  OTHERS,
  seenEvents,
  tenantsOf,
  type Evidence,
  type ReadLetters,
  type WaitingLetters,
} from './evidence.ts';

export type ReadableLetters = Pick<DeadLetterList, 'count' | 'list'>;

/** Of more event names, the letters are counted together. */
const MAX_EVENTS = 100;
/** So many errors are looked at, those of the oldest letters. */
const MAX_ERRORS = 100;

/** @returns `undefined` if they cannot be read: the log knows something of them as well */
export async function waitingLetters(
  letters: ReadableLetters,
  marks: Evidence['marks'],
): Promise<ReadLetters | undefined> {
  const source = 'requeue' in letters ? 'queue' : 'webhook';
  try {
    const all = await ask('count() of the dead letters', () => letters.count());
    if (all === 0) return { source, waiting: [] };
    const hasTenants = tenantsOf(marks).length > 0;
    const events = [...seenEvents({ marks }).values()].filter(
      ({ tenant, eventName }) =>
        eventName !== OTHERS && tenant !== OTHERS && (tenant !== '' || !hasTenants),
    );
    const found = await Promise.all(
      (events.length > MAX_EVENTS ? [] : events).map(({ tenant, eventName }) =>
        lettersOf(letters, { tenant, eventName }),
      ),
    );
    const known = found.reduce((sum, { count }) => sum + count, 0);
    const others = all - known;
    if (others > 0)
      found.push({ ...(await lettersOf(letters, { tenant: '', eventName: '' })), count: others });
    return { source, waiting: found.filter(({ count }) => count > 0) };
  } catch {
    return undefined;
  }
}

async function lettersOf(
  letters: ReadableLetters,
  of: Pick<WaitingLetters, 'tenant' | 'eventName'>,
): Promise<WaitingLetters> {
  const filter: DeadLetterFilter = {
    ...(of.tenant !== '' && { tenant: of.tenant }),
    ...(of.eventName !== '' && { eventName: of.eventName }),
  };
  const [count, page] = await Promise.all([
    ask('count() of the dead letters', () => letters.count(filter)),
    ask('list() of the dead letters', () => letters.list({ ...filter, limit: MAX_ERRORS })),
  ]);
  const since = Math.min(
    ...page.letters.map(({ history: [first], failedAt }) => (first?.at ?? failedAt).getTime()),
  );
  const causes = [...groupedBy(page.letters, causeOf)];
  const [first] = causes.sort(([, one], [, other]) => other.length - one.length);
  const most = first && { text: first[0], count: first[1].length, of: page.letters.length };
  return { ...of, count, since, most };
}
