import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { SimulatorError } from '../simulator-error.ts';
import { linesOf, snapshotOf, type Snapshot } from './snapshot-lines.ts';

/** Characters that are written at once; in between, the simulator goes on. */
const PIECE = 1 << 18;
/** It holds signing secrets. */
const OWNER_ONLY = 0o600;

/**
 * Reads a snapshot; `undefined` when there is no such file yet.
 * @throws SimulatorError `bad-snapshot`, with what is to be done
 */
export async function readSnapshot(file: string): Promise<Snapshot | undefined> {
  const input = createReadStream(file, 'utf8');
  try {
    await new Promise((resolve, reject) => {
      input.once('open', resolve).once('error', reject);
    });
    return await snapshotOf(createInterface({ input, crlfDelay: Infinity }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw badSnapshot(file, error);
  } finally {
    input.destroy();
  }
}

/** The same error with the file and the way out in it. */
export function badSnapshot(file: string, error: unknown): SimulatorError {
  const why = error instanceof Error ? error.message : String(error);
  return new SimulatorError(
    'bad-snapshot',
    `${file} can't be taken up. ${why} Move the file away to start afresh, or name another one as db.`,
    { cause: error },
  );
}

/**
 * Writes a snapshot so that the file is, at every moment and after every crash, the old one or the
 * new one: beside it, to the disk, then renamed.
 */
export async function writeSnapshot(file: string, snapshot: Snapshot): Promise<void> {
  const beside = `${file}.new`;
  await rm(beside, { force: true });
  const handle = await open(beside, 'wx', OWNER_ONLY);
  try {
    for (const piece of piecesOf(linesOf(snapshot))) await handle.writeFile(piece);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(beside, file);
  await syncFolder(dirname(file));
}

/**
 * The first write of a run.
 * @throws SimulatorError `bad-snapshot` where the file can't be written
 */
export async function firstSnapshot(file: string, snapshot: Snapshot): Promise<void> {
  await writeSnapshot(file, snapshot).catch((error: unknown) => {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw new SimulatorError(
      'bad-snapshot',
      `${file} can't be written: ${code}. Name another file as db, in a folder that is there.`,
      { cause: error },
    );
  });
}

function* piecesOf(lines: Iterable<string>): Generator<string, void> {
  let piece = '';
  for (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** The rename itself is on the disk then. Windows can't sync a folder, and need not. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
