import {
  groupByKey,
  type ClaimEntry,
  type FaultEntry,
  type JournalEntry,
  type RunEntry,
} from '../journal.ts';

/** One run of a handler. `until` is Infinity when it was cut off. */
interface HandlerRun {
  key: string;
  attempt: number;
  pid: number;
  at: number;
  until: number;
  /** When its lease, or its job, may have been taken. */
  takenAt: number;
  end: 'effect' | 'failed' | 'none';
}

/** Which faults explain duplicate effects, and how many. */
export type Explanations = Partial<Record<FaultEntry['fault'], number>>;

/**
 * Every run of an event has its own attempt number. Two effects of one event, and two concurrent
 * runs, are explained by a fault that affected the earlier one. Without faults, effects happen
 * exactly once.
 * @param takenBefore how long before its start a run may have been taken from a queue; milliseconds
 */
export function checkRuns(
  entries: readonly JournalEntry[],
  takenBefore = 0,
): {
  violations: string[];
  explained: Explanations;
} {
  const faults = entries.filter((entry) => entry.kind === 'fault');
  const violations: string[] = [];
  const explained: Explanations = {};
  for (const [key, runs] of groupByKey(handlerRuns(entries, takenBefore))) {
    runs.sort((a, b) => a.attempt - b.attempt);
    for (const [index, run] of runs.entries())
      for (const later of runs.slice(index + 1)) {
        const pair = `attempts ${run.attempt} and ${later.attempt}`;
        if (run.attempt === later.attempt)
          violations.push(`${key}: two runs have attempt ${run.attempt}`);
        const twice = run.end === 'effect' && later.end === 'effect';
        const concurrent = run.at < later.until && later.at < endOf(run, faults);
        // The later run has the higher number, unless its process stood still in between.
        const reversed = later.at < run.at;
        if (!twice && !concurrent && !reversed) continue;
        const cause = explanationOf(run, later, faults);
        if (cause === undefined) {
          const what = twice
            ? 'both had their effect'
            : concurrent
              ? 'ran concurrently'
              : 'ran in reverse';
          violations.push(`${key}: ${pair} ${what}, and no fault explains it`);
        } else if (twice) explained[cause] = (explained[cause] ?? 0) + 1;
      }
  }
  return { violations, explained };
}

/** A run is identified by process, event and attempt. */
function handlerRuns(entries: readonly JournalEntry[], takenBefore: number): HandlerRun[] {
  const runs: HandlerRun[] = [];
  /** When the claims of the runs were sent. */
  const claimedAt = new Map<string, number>();
  const open = new Map<string, HandlerRun>();
  const sameRun = ({ pid, key, attempt }: RunEntry | ClaimEntry) => `${pid} ${attempt} ${key}`;
  for (const entry of entries) {
    if (entry.kind === 'claimed') claimedAt.set(sameRun(entry), entry.at);
    else if (entry.kind === 'begin') {
      const { key, pid, at, attempt } = entry;
      const takenAt = Math.min(at - takenBefore, claimedAt.get(sameRun(entry)) ?? Infinity);
      const run: HandlerRun = { key, attempt, pid, at, takenAt, until: Infinity, end: 'none' };
      open.set(sameRun(entry), run);
      runs.push(run);
    } else if (entry.kind === 'effect' || entry.kind === 'failed') {
      const run = open.get(sameRun(entry));
      if (!run)
        throw new Error(`The journal has the end of a run of ${entry.key} that never started.`);
      run.until = entry.at;
      run.end = entry.kind;
    }
  }
  return runs;
}

/** When a run had ended at the latest: a killed process runs nothing. */
function endOf(run: HandlerRun, faults: readonly FaultEntry[]): number {
  const kill = faults.find(
    ({ fault, pid, at }) => fault === 'kill' && pid === run.pid && at >= run.at,
  );
  return Math.min(run.until, kill?.until ?? Infinity);
}

/**
 * The first fault that affected the earlier run, or the server, from when the earlier one was taken to the
 * start of the later one. Injected faults come first.
 */
function explanationOf(
  run: HandlerRun,
  later: HandlerRun,
  faults: readonly FaultEntry[],
): FaultEntry['fault'] | undefined {
  const from = Math.min(run.takenAt, later.takenAt);
  const to = Math.max(run.at, later.at);
  const candidates = faults
    .filter(({ pid }) => pid === undefined || pid === run.pid)
    .filter(({ at, until }) => at <= to && until >= from)
    .sort((a, b) => a.at - b.at);
  return (candidates.find(isInjected) ?? candidates[0])?.fault;
}

/** A frozen process reports a stall as well. */
const isInjected = ({ fault }: FaultEntry) => !['stall', 'store', 'slow', 'clock'].includes(fault);
