import type { JournalEntry } from './journal.ts';

/**
 * What the journal has about the event of a violation: its own entries, and all faults meanwhile that affected a
 * process of these entries, or every process. Times are seconds since the first entry of the run.
 * @param violation begins with the key of its event
 * @returns no lines for a violation of no event
 */
export function timelineOf(violation: string, journal: readonly JournalEntry[]): string[] {
  const key = keyOf(violation, journal);
  if (key === undefined) return [];
  const own = journal.filter((entry) => 'key' in entry && entry.key === key);
  const pids = new Set(own.flatMap((entry) => ('pid' in entry ? [entry.pid] : [])));
  const happened = own.filter(({ at }) => at > 0);
  const from = Math.min(...happened.map(({ at }) => at));
  const to = Math.max(...happened.map(endOf));
  const around = journal.filter(
    (entry) =>
      (entry.kind === 'fault' || entry.kind === 'exit') &&
      (entry.pid === undefined || pids.has(entry.pid)) &&
      entry.at <= to &&
      endOf(entry) >= from,
  );
  const start = Math.min(...journal.map(({ at }) => at).filter((at) => at > 0));
  return [...own, ...around].sort((a, b) => a.at - b.at).map((entry) => lineOf(entry, start));
}

/** How many violations are explained. All others are counted, and their entries are in the journal. */
const MOST_VIOLATIONS = 20;
/** Lines of one timeline. */
const MOST_LINES = 100;

/**
 * The first violations, each with the journal of its event and what the engine has of it now. What is left out is
 * counted, so the text is never longer than about 2,000 lines.
 * @param rowsOf what the engine has of an event, as lines
 */
export async function explained(
  violations: readonly string[],
  journal: readonly JournalEntry[],
  rowsOf: (key: string) => Promise<string>,
): Promise<string> {
  const lines: string[] = [];
  for (const violation of violations.slice(0, MOST_VIOLATIONS)) {
    lines.push(`VIOLATION  ${violation}`);
    const timeline = timelineOf(violation, journal);
    const start = Math.max(0, timeline.length - MOST_LINES);
    if (start > 0) lines.push(`    … ${String(start)} earlier lines are left out`);
    lines.push(...timeline.slice(start).map((line) => `    ${line}`));
    const key = keyOf(violation, journal);
    if (key !== undefined) lines.push(await rowsOf(key));
  }
  const left = violations.length - MOST_VIOLATIONS;
  if (left > 0)
    lines.push(`… ${String(left)} more violations of ${String(violations.length)} are left out`);
  return lines.join('\n');
}

/** The key of the event that a violation is about. */
export function keyOf(violation: string, journal: readonly JournalEntry[]): string | undefined {
  for (const entry of journal)
    if ('key' in entry && entry.key !== '' && violation.startsWith(entry.key)) return entry.key;
  return undefined;
}

const endOf = (entry: JournalEntry) => ('until' in entry ? entry.until : entry.at);

function lineOf(entry: JournalEntry, start: number): string {
  const { kind, at, ...more } = entry;
  const time = (ms: number) => ((ms - start) / 1_000).toFixed(3);
  const span = 'until' in entry ? `${time(at)}–${time(entry.until)}` : time(at);
  const fields = Object.entries(more)
    .filter(([name]) => !['key', 'until', 'stderr'].includes(name))
    .map(([name, value]) => `${name} ${String(value)}`);
  return [span, kind, ...fields].join('  ');
}
