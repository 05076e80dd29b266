import type { OutcomeErasure, OutcomeLog, OutcomeRow } from '@call-webhooks/core/stores';
import { redactId } from '@call-webhooks/core/internal';
import { persistently, type Persistence } from '../store-calls.ts';

/** Which rows of the outcome log are meant. A row fits by its call or by its key, if any are given. */
export interface RowFilter {
  readonly calls?: ReadonlySet<string> | undefined;
  readonly keys?: ReadonlySet<string> | undefined;
  readonly tenant?: string | undefined;
  readonly before?: Date | undefined;
}

/** The log takes so many ids in one call. */
const CHUNK = 500;
/** How many batches are read at once. */
const BATCHES = 50;

/** What an erasure does with the rows of a log. Without one, there are none. */
export function outcomesOf(log: OutcomeLog | undefined, persistence: Persistence) {
  async function* matching(filter: RowFilter): AsyncGenerator<OutcomeRow> {
    if (!log || isEmpty(filter)) return;
    const calls = filter.calls && new Set([...filter.calls].map(redactId));
    const keys = filter.keys && new Set([...filter.keys].map(redactId));
    for (let before: string | undefined, isFirst = true; isFirst || before !== undefined;) {
      isFirst = false;
      const from = before;
      const page = await persistently(
        'read() of the outcome log',
        () => log.read({ before: from, batches: BATCHES }),
        persistence,
      );
      for (const row of page.rows) {
        if (filter.tenant !== undefined && row.tenant !== filter.tenant) continue;
        if (filter.before && row.at >= filter.before.getTime()) continue;
        const byCall = row.callId !== undefined && calls?.has(row.callId);
        const byKey = row.key !== undefined && keys?.has(row.key);
        if ((calls || keys) && !byCall && !byKey) continue;
        yield row;
      }
      before = page.before;
    }
  }

  return {
    async count(filter: RowFilter): Promise<number> {
      let count = 0;
      for await (const _row of matching(filter)) count += 1;
      return count;
    },
    /** The keys of the events of these rows, as far as they are not redacted. */
    async keysOf(filter: RowFilter): Promise<Set<string>> {
      const keys = new Set<string>();
      for await (const { key } of matching(filter)) if (key !== undefined) keys.add(key);
      return keys;
    },
    /** @returns how many were erased */
    async erase({ calls, keys, tenant, before }: RowFilter): Promise<number> {
      if (!log || isEmpty({ calls, keys, tenant, before })) return 0;
      const narrowed = {
        ...(tenant !== undefined && { tenant }),
        ...(before && { before: before.getTime() }),
      };
      const ask = (which: OutcomeErasure) =>
        persistently('erase() of the outcome log', () => log.erase(which), persistence);
      if (!calls && !keys) return ask(narrowed);
      let erased = 0;
      for (const callIds of inChunks(calls)) erased += await ask({ ...narrowed, callIds });
      for (const some of inChunks(keys)) erased += await ask({ ...narrowed, keys: some });
      return erased;
    },
  };
}

const isEmpty = ({ calls, keys, tenant, before }: RowFilter) =>
  calls || keys ? (calls?.size ?? 0) + (keys?.size ?? 0) === 0 : tenant === undefined && !before;

function* inChunks(set: ReadonlySet<string> | undefined): Generator<readonly string[]> {
  const items = [...(set ?? [])];
  for (let at = 0; at < items.length; at += CHUNK) yield items.slice(at, at + CHUNK);
}
