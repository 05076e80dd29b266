import { fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';

/** Milliseconds of the machine's monotonic clock, which all processes of a run share. */
export const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6;

/**
 * One line of a run's journal. Times are `monotonicMs`. An entry about something that takes time has
 * a start (`at`) and an end (`until`).
 */
export type JournalEntry =
  | DeliveryEntry
  | RetryEntry
  | RunEntry
  | ClaimEntry
  | RenewalEntry
  | JobRenewalEntry
  | SettlingEntry
  | SettledEntry
  | FaultEntry
  | ControlEntry
  | ExitEntry;

interface Moment {
  at: number;
}
interface Span extends Moment {
  until: number;
}
interface OfLease {
  pid: number;
  key: string;
  token: string;
}

/** What the service saw of one delivery attempt. Status 0 means no response. */
export interface DeliveryEntry extends Span {
  kind: 'delivery';
  key: string;
  status: number;
  outcome: string;
}

/** A handler started, had its effect or failed, or the event went to the dead-letter sink. */
export interface RunEntry extends Moment {
  kind: 'begin' | 'effect' | 'failed' | 'dead';
  pid: number;
  key: string;
  attempt: number;
}

/** An operator retried the dead job of an event. */
export interface RetryEntry extends Moment {
  kind: 'retried';
  key: string;
}

/** The store granted a lease. */
export interface ClaimEntry extends Span, OfLease {
  kind: 'claimed';
  attempt: number;
  leaseMs: number;
}

/** The store extended a lease. */
export interface RenewalEntry extends Span, OfLease {
  kind: 'renewed';
  leaseMs: number;
}

/** The engine extended the lease of a queued job, or refused to. It did so between the two times. */
export interface JobRenewalEntry extends Span {
  kind: 'job-renewed';
  key: string;
  attempt: number;
  held: boolean;
}

/** The holder is about to complete or release its lease: from now on others may get one. */
export interface SettlingEntry extends Moment, OfLease {
  kind: 'settling';
  how: 'complete' | 'release';
}

/** The store's reply. `held` is false when the lease had been lost before. */
export interface SettledEntry extends Span, OfLease {
  kind: 'settled';
  how: 'complete' | 'release';
  held: boolean;
  /** A claim was repeated after a transaction with `completeIn`, and the event is done, by whomever. */
  isLearned?: true;
}

/**
 * Something went wrong. `kill`, `freeze` and `server` are injected. `stall` (a process got no CPU
 * time) and `store` (a store call was slow, failed, or has had no answer yet) are noticed by the process
 * itself, `slow` (a write of the engine took long, or its file was locked) and `clock` (the wall clock,
 * by which servers count leases, was set) by a probe.
 */
export interface FaultEntry extends Span {
  kind: 'fault';
  fault: 'kill' | 'freeze' | 'server' | 'stall' | 'store' | 'slow' | 'clock';
  /** The affected process. A fault without one affects all. */
  pid?: number;
}

/** An operation that uses neither receiver nor engine, from when it was due until it had been done. */
export interface ControlEntry extends Span {
  kind: 'control';
  /** What part of the CPU time of the machine all processes of the run had; absent where it is unknown. */
  share?: number | undefined;
}

/** A receiver or a worker ended, and nobody had killed it. */
export interface ExitEntry extends Moment {
  kind: 'exit';
  pid: number;
  program: string;
  /** Its exit code or its signal. */
  end: string;
  /** The end of what it had written to stderr. */
  stderr: string;
}

/**
 * One file to which all processes of a run append. Each entry is a single write, so it survives
 * `kill -9` of its writer.
 */
export class Journal {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  write(entry: JournalEntry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  /** Writes and syncs to disk. Used for effects, which stand for a commit in another system. */
  writeDurably(entry: JournalEntry): void {
    this.write(entry);
    fsyncSync(this.#file);
  }
}

export function readJournal(path: string): JournalEntry[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as JournalEntry);
}

/** In the order in which the keys came first. */
export function groupByKey<Item extends { key: string }>(
  items: readonly Item[],
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(item.key);
    if (group) group.push(item);
    else groups.set(item.key, [item]);
  }
  return groups;
}
