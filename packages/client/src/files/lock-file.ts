import { builtin, fileSystem, type FileSystem } from './file-system.ts';
import { isRunning, processId, type ProcessId } from './process-id.ts';

export type { ProcessId } from './process-id.ts';

/** A lock that was asked for: this process has it, or another one, the holder. */
export type Lock =
  | { readonly holder: ProcessId; readonly release?: never }
  | { readonly holder?: never; readonly release: () => Promise<void> };

/** How often, and at what distance in ms, a lock is read that its process has not written yet. */
const LOOKS = 20;
const LOOK_MS = 10;
/** After so many tries it is no lock of ours: a folder, or a link to nothing. */
const TRIES = 100;

/**
 * Takes a file as a lock between processes; it then names this one. What a process that is gone has
 * left behind, a killed one for example, counts for nothing.
 *
 * For the packages of this repository: it may change in any release.
 *
 * @throws {UnsupportedRuntimeError} where there is no file system, and what that throws
 */
export async function lockFile(path: string): Promise<Lock> {
  const fs = fileSystem();
  const mine = JSON.stringify(await processId(fs));
  for (let tries = 0; !(await create(fs, path, mine)); tries++) {
    if (tries === TRIES) throw new Error(`${path} can't be used as a lock: remove it`);
    const text = await written(fs, path);
    const holder = text === undefined ? undefined : await holderOf(fs, path, text);
    if (holder) return { holder };
  }
  return { release: () => fs.rm(path, { force: true }) };
}

async function create(fs: FileSystem, path: string, text: string): Promise<boolean> {
  try {
    await fs.writeFile(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false;
    throw error;
  }
}

/** Whose lock it is. One that is nobody's any more is removed. */
async function holderOf(
  fs: FileSystem,
  path: string,
  text: string,
): Promise<ProcessId | undefined> {
  const named = parsed(text);
  if (named && (await isRunning(fs, named))) return named;
  // One at a time, or the second would remove what the first has put in its place.
  const turn = await lockFile(`${path}.turn`);
  if (turn.holder) return turn.holder;
  try {
    if ((await read(fs, path)) === text) await fs.rm(path);
  } finally {
    await turn.release();
  }
  return undefined;
}

/** What stands in a lock; undefined when it has gone. */
async function written(fs: FileSystem, path: string): Promise<string | undefined> {
  type Timers = typeof import('node:timers/promises');
  const { setTimeout: sleep } = builtin('node:timers/promises') as Timers;
  for (let look = 1; ; look++) {
    const text = await read(fs, path);
    if (text !== '' || look === LOOKS) return text;
    await sleep(LOOK_MS);
  }
}

const read = (fs: FileSystem, path: string): Promise<string | undefined> =>
  fs.readFile(path, 'utf8').catch(() => undefined);

function parsed(text: string): ProcessId | undefined {
  try {
    const named = JSON.parse(text) as Partial<ProcessId>;
    const isOne = Number.isSafeInteger(named.pid) && typeof named.host === 'string';
    return isOne ? (named as ProcessId) : undefined;
  } catch {
    return undefined;
  }
}
