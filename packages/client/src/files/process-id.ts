import { builtin, type FileSystem } from './file-system.ts';

/** A process, told from a later one that got the same number. */
export interface ProcessId {
  readonly pid: number;
  readonly host: string;
  /** When it was started, as the system counts; undefined where the system does not say (not Linux). */
  readonly startedAt: string | undefined;
}

/** This process. */
export async function processId(fs: FileSystem): Promise<ProcessId> {
  const { pid } = globalThis.process;
  return { pid, host: hostname(), startedAt: (await statOf(fs, pid))?.startedAt };
}

/** Whether a process may still be running. One of another machine may: nothing here can tell. */
export async function isRunning(fs: FileSystem, other: ProcessId): Promise<boolean> {
  if (other.host !== hostname()) return true;
  try {
    globalThis.process.kill(other.pid, 0);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ESRCH') return false;
  }
  const now = await statOf(fs, other.pid);
  return now === undefined || (now.startedAt === other.startedAt && !now.zombie);
}

const hostname = (): string => (builtin('node:os') as typeof import('node:os')).hostname();

/** What Linux says of a process in `/proc`. */
async function statOf(
  fs: FileSystem,
  pid: number,
): Promise<{ startedAt: string | undefined; zombie: boolean } | undefined> {
  try {
    const text = await fs.readFile(`/proc/${pid}/stat`, 'utf8');
    // The name of the program stands in parentheses, and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { startedAt: fields[19], zombie: fields[0] === 'Z' };
  } catch {
    return undefined;
  }
}
