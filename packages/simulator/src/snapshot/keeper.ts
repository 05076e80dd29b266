import type { ChangeEmitter } from '../change-emitter.ts';
import { writeSnapshot } from './snapshot-file.ts';
import type { Snapshot } from './snapshot-lines.ts';

/** Real milliseconds from a change to the snapshot that holds it. */
const WAIT_MS = 200;
/** Large states are written less often: between two writes there is at least this many times their length. */
const REST_FACTOR = 4;

/** Keeps a file up to date. */
export interface Keeper {
  /** Writes what is not written yet, and stops. Rejects when that fails. */
  close(): Promise<void>;
}

/**
 * Writes a snapshot soon after something changed, one at a time. A write that fails is told as a
 * process warning, and is made up for by the next one.
 */
export function keepSnapshot(file: string, changes: ChangeEmitter, take: () => Snapshot): Keeper {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> | undefined;
  let waitMs = WAIT_MS;
  let changed = false;
  let written = false;

  async function write(): Promise<void> {
    const started = performance.now();
    changed = false;
    written = false;
    await writeSnapshot(file, take());
    written = true;
    waitMs = Math.max(WAIT_MS, REST_FACTOR * (performance.now() - started));
  }

  function onTime(): void {
    timer = undefined;
    writing = write()
      .catch((error: unknown) => {
        process.emitWarning(`The simulator can't write ${file}: ${String(error)}`);
      })
      .finally(() => {
        writing = undefined;
        if (changed) plan();
      });
  }

  function plan(): void {
    if (!writing) timer ??= setTimeout(onTime, waitMs);
  }

  const unsubscribe = changes.subscribe(() => {
    changed = true;
    plan();
  });
  return {
    async close() {
      unsubscribe();
      await writing;
      clearTimeout(timer);
      if (changed || !written) await write();
    },
  };
}
