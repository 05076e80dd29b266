import { fsyncSync, openSync, closeSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { monotonicMs, type Journal } from './journal.ts';

// What the machine gives to a program that has nothing to do with the receiver. The check needs it to tell a receiver
// that stopped accepting events from a machine on which nothing gets to run.

const EVERY_MS = 1_000;
/** CPU time of the control operation; milliseconds. */
export const CONTROL_WORK_MS = 15;

/** Runs a control operation each second, and journals how long it took and how much CPU time the run itself had. */
export function watchMachine(journal: Journal, folder: string): { stop(): void } {
  const file = openSync(join(folder, 'control'), 'w');
  const cores = availableParallelism();
  let timer: NodeJS.Timeout | undefined;
  let before = { at: monotonicMs(), ownMs: ownCpuMs() };
  function schedule(): void {
    const due = monotonicMs() + EVERY_MS;
    timer = setTimeout(() => {
      work(CONTROL_WORK_MS);
      writeSync(file, '.', 0);
      fsyncSync(file);
      const now = { at: monotonicMs(), ownMs: ownCpuMs() };
      const share =
        now.ownMs === undefined || before.ownMs === undefined
          ? undefined
          : (now.ownMs - before.ownMs) / (now.at - before.at) / cores;
      journal.write({ kind: 'control', at: due, until: now.at, share });
      before = now;
      schedule();
    }, EVERY_MS);
  }
  schedule();
  return {
    stop() {
      clearTimeout(timer);
      closeSync(file);
    },
  };
}

/** Returns when this process has had so much CPU time. */
function work(ms: number): void {
  const since = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(since);
    if ((user + system) / 1_000 >= ms) return;
  }
}

/** Linux counts CPU time in hundredths of a second. */
const TICK_MS = 10;

/** CPU time of this process and everything that it started, or `undefined` where `/proc` does not tell. */
function ownCpuMs(): number | undefined {
  const childrenOf = new Map<number, number[]>();
  const ticksOf = new Map<number, number>();
  try {
    for (const name of readdirSync('/proc')) {
      const pid = Number(name);
      const stat = Number.isInteger(pid) ? statOf(pid) : undefined;
      if (!stat) continue;
      ticksOf.set(pid, stat.ticks);
      childrenOf.set(stat.parent, [...(childrenOf.get(stat.parent) ?? []), pid]);
    }
  } catch {
    return undefined; // not Linux
  }
  const sum = (pid: number): number =>
    (childrenOf.get(pid) ?? []).reduce((ticks, child) => ticks + sum(child), ticksOf.get(pid) ?? 0);
  return sum(process.pid) * TICK_MS;
}

/** The times of children that have ended are part of their parent's. */
function statOf(pid: number): { parent: number; ticks: number } | undefined {
  try {
    const text = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // The name of the program is in parentheses, and may contain anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [parent = 0, ...times] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]));
    return { parent, ticks: times.reduce((a, b) => a + b, 0) };
  } catch {
    return undefined; // it has ended
  }
}
