import type { ChangeEmitter } from '../change-emitter.ts';
import { writeSnapshot } from './snapshot-file.ts';
import type { Snapshot } from './snapshot-format.ts';

/** Real milliseconds from a change to the next write. */
const WAIT_MS = 200;
/** After a write of some length, the writer pauses for at least this many times that length. */
const REST_FACTOR = 4;

/** Keeps the file of `db` up to date. */
export interface SnapshotWriter {
  /** Writes the last changes and stops. Rejects when the write fails. */
  close(): Promise<void>;
}

/**
 * Writes a snapshot shortly after a change, one at a time. A failed write emits a process warning;
 * the next write makes up for it.
 */
export function startSnapshotWriter(
  file: string,
  changes: ChangeEmitter,
  take: () => Snapshot,
): SnapshotWriter {
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
        process.emitWarning(`The simulator cannot write ${file}: ${String(error)}`);
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
