import { lockFile } from '@call-webhooks/client/lock-file';
import { SimulatorError } from '../simulator-error.ts';

/**
 * Keeps other simulators from the same file: each would write its own state over the other's.
 * @returns lets go of it
 * @throws SimulatorError `db-in-use`; what a simulator that was killed left behind does not count
 */
export async function lockSnapshot(file: string): Promise<() => Promise<void>> {
  const lock = `${file}.lock`;
  const { holder, release } = await lockFile(lock).catch(unusable(file));
  if (release) return release;
  throw new SimulatorError(
    'db-in-use',
    `${file} belongs to a simulator that runs: process ${String(holder.pid)} on ${holder.host}. Stop that one, or name another file as db. If it is gone for sure, remove ${lock}.`,
  );
}

function unusable(file: string): (error: unknown) => never {
  return (error) => {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SimulatorError(
      'bad-snapshot',
      `${file} can't be written: ${code ?? message}. Name another file as db, in a folder that is there.`,
      { cause: error },
    );
  };
}
