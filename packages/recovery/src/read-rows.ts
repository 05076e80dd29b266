import { systemClock } from '@call-webhooks/client';
import type { OutcomeLog, OutcomeLogQuery, OutcomeRow } from '@call-webhooks/core/stores';
import { inTime } from './store-calls.ts';

/** How long a store may take for one call; milliseconds. */
const CALL_MS = 10_000;
/** Batches of one page. */
const BATCHES = 200;

/** @throws the error of the store, or one that says that it did not answer in time */
export const ask = <T>(what: string, call: () => Promise<T>): Promise<T> =>
  inTime(`${what} of the store`, call, CALL_MS, systemClock);

/** @returns the newest rows, the oldest of them first, and whether these are all */
export async function readRows(
  log: OutcomeLog,
  query: Pick<OutcomeLogQuery, 'only' | 'since' | 'until'>,
  most: number,
): Promise<{ rows: readonly OutcomeRow[]; isWhole: boolean }> {
  const found: OutcomeRow[] = [];
  let before: string | undefined;
  do {
    const page = await ask('rows of the log', () =>
      log.read({ ...query, before, batches: BATCHES }),
    );
    found.push(...page.rows);
    before = page.before;
  } while (before !== undefined && found.length < most);
  return {
    rows: found.sort((one, other) => one.at - other.at),
    isWhole: before === undefined,
  };
}
