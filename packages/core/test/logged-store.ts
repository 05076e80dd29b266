import { memoryStore, type Store } from '../src/index.ts';
import { SERIES_NAMES, type OutcomeBatch, type OutcomeLog } from '../src/stores.ts';

/** A store whose log can fail or hang, and the batches that it was given. */
export function loggedStore(append?: (batch: OutcomeBatch, log: OutcomeLog) => Promise<void>) {
  const inner = memoryStore();
  const log = inner.log!;
  const batches: OutcomeBatch[] = [];
  const store: Store = {
    ...inner,
    log: {
      ...log,
      append(batch) {
        batches.push(batch);
        return append ? append(batch, log) : log.append(batch);
      },
    },
  };
  /** All counts, of all periods. */
  async function counts(): Promise<Record<string, number>> {
    const sums: Record<string, number> = {};
    for (const series of SERIES_NAMES)
      for (const found of (await log.counts(series, 0, Infinity)).values())
        for (const [name, count] of Object.entries(found)) sums[name] = (sums[name] ?? 0) + count;
    return sums;
  }
  const counted = async () =>
    Object.fromEntries(
      Object.entries(await counts()).filter(([name]) => /^(?:outcome|late)/.test(name)),
    );
  const rows = async () => (await log.read({ batches: 2_000 })).rows;
  return { store, batches, counts, counted, rows };
}
