import type { Fault, Line, Run } from '../line.ts';
import { byKey } from './by-key.ts';

/** One run of a handler. `until` is Infinity for one that was cut off. */
interface WholeRun {
  key: string;
  attempt: number;
  pid: number;
  at: number;
  until: number;
  end: 'effect' | 'failed' | 'none';
}

/** What explains duplicate effects, and how often. */
export type Explanations = Partial<Record<Fault['fault'], number>>;

/**
 * Every run of an event has an attempt number of its own; two effects of one event, and two runs at
 * once, are explained by a fault that struck the earlier one. Without a fault effects are exactly once.
 * @param takenBefore how long before its begin a run may have been taken from a queue; milliseconds
 */
export function checkRuns(
  lines: readonly Line[],
  takenBefore = 0,
): {
  violations: string[];
  explained: Explanations;
} {
  const faults = lines.filter((line) => line.kind === 'fault');
  const violations: string[] = [];
  const explained: Explanations = {};
  for (const [key, runs] of byKey(wholeRuns(lines))) {
    runs.sort((a, b) => a.attempt - b.attempt);
    for (const [index, run] of runs.entries())
      for (const later of runs.slice(index + 1)) {
        const pair = `attempts ${run.attempt} and ${later.attempt}`;
        if (run.attempt === later.attempt)
          violations.push(`${key}: two runs have attempt ${run.attempt}`);
        const twice = run.end === 'effect' && later.end === 'effect';
        const atOnce = run.at < later.until && later.at < endOf(run, faults);
        // Who began later has the higher number, unless its process stood still in between.
        const turned = later.at < run.at;
        if (!twice && !atOnce && !turned) continue;
        const cause = explanationOf(run, later, takenBefore, faults);
        if (cause === undefined) {
          const what = twice ? 'both had their effect' : atOnce ? 'ran at once' : 'changed places';
          violations.push(`${key}: ${pair} ${what}, and no fault explains it`);
        } else if (twice) explained[cause] = (explained[cause] ?? 0) + 1;
      }
  }
  return { violations, explained };
}

/** Lines of a run are told apart by process, event and attempt. */
function wholeRuns(lines: readonly Line[]): WholeRun[] {
  const runs: WholeRun[] = [];
  const open = new Map<string, WholeRun>();
  const sameRun = ({ pid, key, attempt }: Run) => `${pid} ${attempt} ${key}`;
  for (const line of lines) {
    if (line.kind === 'begin') {
      const { key, attempt, pid, at } = line;
      const run: WholeRun = { key, attempt, pid, at, until: Infinity, end: 'none' };
      open.set(sameRun(line), run);
      runs.push(run);
    } else if (line.kind === 'effect' || line.kind === 'failed') {
      const run = open.get(sameRun(line));
      if (!run) throw new Error(`The journal has an end of ${line.key} that never began.`);
      run.until = line.at;
      run.end = line.kind;
    }
  }
  return runs;
}

/** When a run ended at the latest: a process that was killed runs nothing. */
function endOf(run: WholeRun, faults: readonly Fault[]): number {
  const kill = faults.find(
    ({ fault, pid, at }) => fault === 'kill' && pid === run.pid && at >= run.at,
  );
  return Math.min(run.until, kill?.until ?? Infinity);
}

/** The first fault that struck the earlier run, or the server, between the begins of the two; injected ones first. */
function explanationOf(
  run: WholeRun,
  later: WholeRun,
  takenBefore: number,
  faults: readonly Fault[],
): Fault['fault'] | undefined {
  const from = Math.min(run.at, later.at) - takenBefore;
  const to = Math.max(run.at, later.at);
  const striking = faults
    .filter(({ pid }) => pid === undefined || pid === run.pid)
    .filter(({ at, until }) => at <= to && until >= from)
    .sort((a, b) => a.at - b.at);
  return (striking.find(isInjected) ?? striking[0])?.fault;
}

/** A process that is frozen sees a stall as well. */
const isInjected = ({ fault }: Fault) => !['stall', 'store', 'slow'].includes(fault);
