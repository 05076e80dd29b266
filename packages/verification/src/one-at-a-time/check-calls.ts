import type { CallEntry, RunEntry } from './journal.ts';

export interface CallReport {
  readonly violations: string[];
  readonly counts: Record<string, number>;
}

interface Run extends Pick<RunEntry, 'pid' | 'callId' | 'eventName' | 'attempt'> {
  begin: number;
  end: number;
  how: 'end' | 'failed' | 'killed';
}

/**
 * Checks that no two runs of a call overlapped, and that each event was handled.
 * @param expected how many events were sent
 */
export function checkCalls(entries: readonly CallEntry[], expected: number): CallReport {
  const runs = runsOf(entries);
  const byCall = groupBy(runs, ({ callId }) => callId);
  const byEvent = groupBy(runs, nameOf);
  const overlaps = [...byCall.values()].flatMap(overlapsIn);
  const violations = overlaps.map(
    ([one, other]) =>
      `${nameOf(other)} began ${(one.end - other.begin).toFixed(1)} ms before the end of ${nameOf(one)}`,
  );
  const handled = [...byEvent.values()].filter((ofEvent) =>
    ofEvent.some(({ how }) => how === 'end'),
  );
  if (handled.length !== expected)
    violations.push(`${String(handled.length)} of ${String(expected)} events were handled`);
  for (const [name, ofEvent] of byEvent)
    ofEvent.forEach(({ attempt }, index) => {
      const before = ofEvent[index - 1]?.attempt ?? 0;
      if (attempt <= before)
        violations.push(`${name}: attempt ${String(attempt)} after ${String(before)}`);
    });

  const waits = entries.filter((entry) => entry.kind === 'wait');
  const firsts = [...byCall.values()].map(([first]) => first?.eventName);
  const count = (list: readonly unknown[], value: unknown) =>
    list.filter((one) => one === value).length;
  const ends = runs.map(({ how }) => how);
  return {
    violations,
    counts: {
      calls: byCall.size,
      'of them the recording first': count(firsts, 'call:recording-available'),
      'of them completed first': count(firsts, 'call:completed'),
      runs: runs.length,
      'of them failed': count(ends, 'failed'),
      'of them killed': count(ends, 'killed'),
      'of them beside another run of the call': overlaps.length,
      'events that succeeded more than once': handled.filter(
        (ofEvent) => ofEvent.filter(({ how }) => how === 'end').length > 1,
      ).length,
      'process kills': entries.filter(({ kind }) => kind === 'kill').length,
      'deliveries that waited': waits.length,
      'of them answered in-progress': waits.filter(({ outcome }) => outcome === 'in-progress')
        .length,
      'longest wait (ms)': Math.round(waits.reduce((most, { ms }) => Math.max(most, ms), 0)),
    },
  };
}

const nameOf = ({ callId, eventName }: Pick<Run, 'callId' | 'eventName'>) =>
  `${callId} ${eventName}`;

/** In the order in which they began. A run that neither succeeded nor failed ended with its process. */
function runsOf(entries: readonly CallEntry[]): Run[] {
  const open = new Map<string, Run>();
  const runs: Run[] = [];
  const inOrder = entries.filter((entry) => entry.kind !== 'wait').sort((a, b) => a.at - b.at);
  for (const entry of inOrder) {
    if (entry.kind === 'kill') {
      for (const [id, run] of open) {
        if (run.pid !== entry.pid) continue;
        run.end = entry.at;
        open.delete(id);
      }
      continue;
    }
    const { kind, at, pid, callId, eventName, attempt } = entry;
    const id = `${String(pid)} ${nameOf(entry)} ${String(attempt)}`;
    const run = open.get(id);
    if (kind === 'begin') {
      const begun: Run = {
        pid,
        callId,
        eventName,
        attempt,
        begin: at,
        end: Infinity,
        how: 'killed',
      };
      open.set(id, begun);
      runs.push(begun);
    } else if (run) {
      Object.assign(run, { end: at, how: kind });
      open.delete(id);
    }
  }
  return runs;
}

/** Each run that began before an earlier one had ended, after that one. */
function overlapsIn(runs: readonly Run[]): [Run, Run][] {
  const overlaps: [Run, Run][] = [];
  let last: Run | undefined;
  for (const run of runs) {
    if (last && run.begin < last.end) overlaps.push([last, run]);
    if (!last || run.end > last.end) last = run;
  }
  return overlaps;
}

function groupBy<T>(list: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of list) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
