import { openSync, readFileSync, writeSync } from 'node:fs';

/** One line of a run's journal. Times are those of the machine's monotonic clock, in milliseconds. */
export type CallEntry = RunEntry | KillEntry | WaitEntry;

/** A handler began, succeeded or failed. */
export interface RunEntry {
  kind: 'begin' | 'end' | 'failed';
  at: number;
  pid: number;
  callId: string;
  eventName: string;
  attempt: number;
}

/** A process was killed, and is gone. */
export interface KillEntry {
  kind: 'kill';
  at: number;
  pid: number;
}

/** A delivery waited for another event of its call. */
export interface WaitEntry {
  kind: 'wait';
  outcome: string;
  ms: number;
}

/** Opens a file to which several processes append: each entry is one write, and survives its writer. */
export function openCallJournal(path: string): (entry: CallEntry) => void {
  const file = openSync(path, 'a');
  return (entry) => {
    writeSync(file, `${JSON.stringify(entry)}\n`);
  };
}

export const readCallJournal = (path: string): CallEntry[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as CallEntry);
