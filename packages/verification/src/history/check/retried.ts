import type { JournalEntry } from '../journal.ts';

/** Every event whose dead job was retried by hand has its effect in the end. */
export function checkRetried(entries: readonly JournalEntry[]): string[] {
  const effects = new Set(entries.flatMap((entry) => (entry.kind === 'effect' ? [entry.key] : [])));
  const retried = new Set(
    entries.flatMap((entry) => (entry.kind === 'retried' ? [entry.key] : [])),
  );
  return [...retried]
    .filter((key) => !effects.has(key))
    .map((key) => `${key} was retried by hand and has no effect`);
}
