import { readdirSync, readFileSync } from 'node:fs';

/**
 * Sends a signal to a process and its children. The parent is stopped before, so that no child of it
 * is born unseen: it would outlive its family.
 */
export function signalProcessTree(parent: number, signal: NodeJS.Signals): void {
  send(parent, 'SIGSTOP');
  for (const pid of family(parent)) send(pid, signal);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it ended meanwhile
  }
}

/** Linux, from /proc. */
function family(parent: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
  return [parent, ...children];
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // "pid (name) state parent …", and a name may hold anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined; // it ended meanwhile
  }
}
