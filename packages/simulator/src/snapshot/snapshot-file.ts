import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SimulatorError } from '../simulator-error.ts';
import { lockFile } from './lock-file.ts';
import { formatLines, parseLines, type Snapshot } from './snapshot-format.ts';

/** Characters per write. The simulator continues between two writes. */
const CHUNK_LENGTH = 1 << 18;
/** The file holds signing secrets. */
const OWNER_ONLY = 0o600;

/**
 * Reads a snapshot.
 * @returns `undefined` when the file does not exist
 * @throws SimulatorError `bad-snapshot`
 */
export async function readSnapshot(file: string): Promise<Snapshot | undefined> {
  const input = createReadStream(file, 'utf8');
  try {
    await new Promise((resolve, reject) => {
      input.once('open', resolve).once('error', reject);
    });
    return await parseLines(splitLines(input));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw badSnapshot(file, error);
  } finally {
    input.destroy();
  }
}

/** Adds the file and a solution to an error. */
export function badSnapshot(file: string, error: unknown): SimulatorError {
  const why = error instanceof Error ? error.message : String(error);
  return new SimulatorError(
    'bad-snapshot',
    `Cannot restore ${file}. ${why} Move the file away to start from scratch, or set db to another file.`,
    { cause: error },
  );
}

/**
 * Writes a snapshot atomically: to a temporary file, which is synced to disk and then renamed. After
 * a crash the file is either the old one or the new one.
 */
export async function writeSnapshot(file: string, snapshot: Snapshot): Promise<void> {
  const temporary = `${file}.new`;
  await rm(temporary, { force: true });
  const handle = await open(temporary, 'wx', OWNER_ONLY);
  try {
    for (const chunk of chunksOf(formatLines(snapshot))) await handle.writeFile(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncFolder(dirname(file));
}

/**
 * Writes the first snapshot of a run, so that a file that cannot be written is reported at the start.
 * @throws SimulatorError `bad-snapshot`
 */
export async function firstSnapshot(file: string, snapshot: Snapshot): Promise<void> {
  await writeSnapshot(file, snapshot).catch(notWritable(file));
}

/**
 * Prevents other simulators from using the same file. A lock that a killed simulator left behind is
 * ignored.
 * @returns a function that releases the file
 * @throws SimulatorError `db-in-use`, `bad-snapshot`
 */
export async function lockSnapshot(file: string): Promise<() => Promise<void>> {
  const lock = `${file}.lock`;
  const { holder, release } = await lockFile(lock).catch(notWritable(file));
  if (release) return release;
  throw new SimulatorError(
    'db-in-use',
    `Another simulator uses ${file}: process ${String(holder.pid)} on ${holder.host}. Stop it, or set db to another file. If it no longer runs, remove ${lock}.`,
  );
}

function notWritable(file: string): (error: unknown) => never {
  return (error) => {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SimulatorError(
      'bad-snapshot',
      `Cannot write ${file}: ${code ?? message}. Set db to a file in an existing folder.`,
      { cause: error },
    );
  };
}

/**
 * Splits at line feeds only. `node:readline` also splits at U+2028 and U+2029 since Node 24, which
 * JSON does not escape.
 */
async function* splitLines(input: AsyncIterable<string>): AsyncGenerator<string, void> {
  let rest = '';
  for await (const chunk of input) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function* chunksOf(lines: Iterable<string>): Generator<string, void> {
  let chunk = '';
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

/** Syncs the rename to disk. Windows cannot sync a folder, and need not. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
