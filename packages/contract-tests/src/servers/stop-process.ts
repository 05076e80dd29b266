import { readdirSync, readFileSync } from 'node:fs';

/** How long the threads of a process may take to stop; milliseconds. */
const WITHIN_MS = 5_000;

/**
 * Sends SIGSTOP, and returns when no thread of the process runs any more: a busy machine delivers the signal
 * to each of them a little later, and one that still runs would answer what a test sends meanwhile.
 */
export function stopProcess(pid: number): void {
  process.kill(pid, 'SIGSTOP');
  const until = performance.now() + WITHIN_MS;
  while (runs(pid)) {
    if (performance.now() > until)
      throw new Error(`Process ${String(pid)} still runs ${String(WITHIN_MS)} ms after SIGSTOP.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}

/** Whether a thread of it is in another state than stopped or ended; Linux alone can tell. */
function runs(pid: number): boolean {
  const tasks = `/proc/${String(pid)}/task`;
  try {
    return readdirSync(tasks).some((task) => {
      const stat = readFileSync(`${tasks}/${task}/stat`, 'utf8');
      return !'TtZX'.includes(stat.charAt(stat.lastIndexOf(')') + 2)); // "pid (name) state …"
    });
  } catch {
    return false; // it ended meanwhile, or this is not Linux
  }
}
