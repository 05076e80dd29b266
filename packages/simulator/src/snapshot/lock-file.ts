import * as fs from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** A lock file: held by this process, or by the other one named as its holder. */
export type Lock =
  | { readonly holder: ProcessId; readonly release?: never }
  | { readonly holder?: never; readonly release: () => Promise<void> };

/** Identifies a process, and tells it from a later one with the same number. */
export interface ProcessId {
  readonly pid: number;
  readonly host: string;
  /** When it was started, in units of the system. Undefined outside of Linux. */
  readonly startedAt: string | undefined;
}

// A lock may be read before its process has written it. Then it is read again, every 10 ms.
const readAttempts = 20;
const readIntervalMs = 10;
// After so many attempts it is not a lock, but a folder or a broken link.
const lockAttempts = 100;

/**
 * Locks a file between processes by creating it with the name of this process. The lock of a process
 * that is gone, for example because it was killed, is removed.
 *
 * @throws errors of the file system
 */
export async function lockFile(path: string): Promise<Lock> {
  const mine = JSON.stringify(await currentProcess());
  for (let attempt = 0; !(await create(path, mine)); attempt++) {
    if (attempt === lockAttempts) throw new Error(`${path} can't be used as a lock: remove it`);
    const text = await readWritten(path);
    const holder = text === undefined ? undefined : await findHolder(path, text);
    if (holder) return { holder };
  }
  return { release: () => fs.rm(path, { force: true }) };
}

async function create(path: string, text: string): Promise<boolean> {
  try {
    await fs.writeFile(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false;
    throw error;
  }
}

/** The process that holds a lock. A lock without one is removed. */
async function findHolder(path: string, text: string): Promise<ProcessId | undefined> {
  const named = parseProcess(text);
  if (named && (await isRunning(named))) return named;
  // One process at a time, or a second one would remove the new lock of the first.
  const turn = await lockFile(`${path}.turn`);
  if (turn.holder) return turn.holder;
  try {
    if ((await read(path)) === text) await fs.rm(path);
  } finally {
    await turn.release();
  }
  return undefined;
}

/** The content of a lock once it is written. Undefined if the lock is gone. */
async function readWritten(path: string): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++) {
    const text = await read(path);
    if (text !== '' || attempt === readAttempts) return text;
    await sleep(readIntervalMs);
  }
}

const read = (path: string): Promise<string | undefined> =>
  fs.readFile(path, 'utf8').catch(() => undefined);

function parseProcess(text: string): ProcessId | undefined {
  try {
    const named = JSON.parse(text) as Partial<ProcessId>;
    const isOne = Number.isSafeInteger(named.pid) && typeof named.host === 'string';
    return isOne ? (named as ProcessId) : undefined;
  } catch {
    return undefined;
  }
}

/** This process, as a lock file names it. */
export async function currentProcess(): Promise<ProcessId> {
  const { pid } = process;
  return { pid, host: hostname(), startedAt: (await processStatus(pid))?.startedAt };
}

/** Whether a process may still be running. A process of another machine always may. */
async function isRunning(other: ProcessId): Promise<boolean> {
  if (other.host !== hostname()) return true;
  try {
    process.kill(other.pid, 0);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ESRCH') return false;
  }
  const now = await processStatus(other.pid);
  return now === undefined || (now.startedAt === other.startedAt && !now.zombie);
}

/** What Linux says about a process in `/proc`. */
async function processStatus(
  pid: number,
): Promise<{ startedAt: string | undefined; zombie: boolean } | undefined> {
  try {
    const text = await fs.readFile(`/proc/${pid}/stat`, 'utf8');
    // The name of the program is in parentheses, and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { startedAt: fields[19], zombie: fields[0] === 'Z' };
  } catch {
    return undefined;
  }
}
