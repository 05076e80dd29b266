import type { EngineName } from './engines.ts';

/** What an operator is started with: JSON in its only argument. */
export interface OperatorInput {
  engine: EngineName;
  url: string;
  journal: string;
}

/** One line of the journal. */
export interface JournalEntry {
  kind: 'begin' | 'effect' | 'failed';
  key: string;
  pid: number;
  /** Nanoseconds of the machine's monotonic clock. */
  at: number;
}

/** How long claims and leases last in these tests; milliseconds. */
export const LEASE_MS = 3_000;

/** Whether the event fails each time. */
export const isPoison = (key: string): boolean => key.startsWith('poison-');
