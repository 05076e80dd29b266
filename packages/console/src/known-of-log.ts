import { counterParts, LOG_LIMITS, type OutcomeLog } from '@call-webhooks/core/stores';

/** In the marks: no tenant or event, and those that are not named. */
const NO_NAMES: ReadonlySet<string> = new Set(['', '*']);
/** The beginning of the log is looked for in steps, down to so long; then all of it is read. Milliseconds. */
const LOOKED_THROUGH_MS = 10_000;
/** What the log knows besides its rows. */
export interface KnownOfLog {
  readonly keptSince: number | null;
  readonly eventNames: readonly string[];
  readonly tenants: readonly string[];
  /** The version of the app of each process that has one. */
  readonly processes: ReadonlyMap<string, string>;
}

/** Reads it. @param now milliseconds since the epoch */
export async function readKnown(log: OutcomeLog, now: number): Promise<KnownOfLog> {
  const [{ marks }, processes, keptSince] = await Promise.all([
    log.marks(),
    log.processes(),
    oldestRow(log, now),
  ]);
  const parts = Object.keys(marks).map(counterParts);
  const named = (at: number) =>
    new Set(
      parts.flatMap((of) => (of.length === 4 && !NO_NAMES.has(of[at] ?? '') ? (of[at] ?? []) : [])),
    );
  return {
    keptSince,
    tenants: [...named(1)],
    eventNames: [...named(2)],
    processes: new Map(
      processes.flatMap(({ id, version }) =>
        version === undefined ? [] : [[id, version] as const],
      ),
    ),
  };
}

/** The earlier of two times, as far as they are known. */
export function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/** When the oldest row of the log ended. The log cannot be read from its end. */
async function oldestRow(log: OutcomeLog, now: number): Promise<number | null> {
  const oldest = { at: Infinity };
  const hasUntil = async (until: number) => {
    const { rows, before } = await log.read({ until, batches: 1 });
    for (const { at } of rows) oldest.at = Math.min(oldest.at, at);
    return rows.length > 0 || before !== undefined;
  };
  if (!(await hasUntil(now + LOG_LIMITS.rowsMs))) return null;
  let without = now - LOG_LIMITS.rowsMs;
  let withRows = Math.min(now, oldest.at);
  while (withRows - without > LOOKED_THROUGH_MS) {
    const middle = Math.floor((without + withRows) / 2);
    if (await hasUntil(middle)) withRows = Math.min(middle, oldest.at);
    else without = middle;
  }
  let before: string | undefined;
  do {
    const page = await log.read({ since: without, until: withRows, before, batches: 50 });
    for (const { at } of page.rows) oldest.at = Math.min(oldest.at, at);
    before = page.before;
  } while (before !== undefined);
  return Math.min(withRows, oldest.at);
}
