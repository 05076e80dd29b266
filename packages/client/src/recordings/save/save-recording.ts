import { ConfigurationError, NetworkError } from '../../errors/index.ts';
import { absolute, fileSystem, type FileSystem } from '../../files/file-system.ts';
import { lockFile } from '../../files/lock-file.ts';
import { orAbort } from '../../http/deadline.ts';
import { isConnectionError } from '../../http/retry.ts';
import type { OpenedRecording, RecordingSource } from '../source.ts';
import type { SavedRecording, SaveOptions } from './options.ts';
import { openPart, type PartFile } from './part-file.ts';
import { canIdentify, noteOf, readNote, writeNote } from './part-note.ts';
import { noteFor, openRest, usableBytes } from './resume.ts';

const ownerOnly = 0o600;

/** Saves a recording as `Recording.saveTo` describes, with the file system of the runtime. */
export async function saveRecording(
  source: RecordingSource,
  opened: OpenedRecording,
  path: string,
  options: SaveOptions,
): Promise<SavedRecording> {
  const resume = options.resume ?? false;
  let file: PartFile | undefined;
  let unlock: (() => Promise<void>) | undefined;
  try {
    const fs = fileSystem();
    options.signal?.throwIfAborted();
    if (resume) unlock = await lockPart(`${absolute(path)}.part`);
    file = await openPart(fs, path, resume, options.mode ?? ownerOnly);
    const { bytes, resumedFrom } = await download(fs, source, opened, file, options);
    await file.finish(path);
    if (resume) await fs.rm(`${file.path}.json`, { force: true });
    return { path, bytes, resumedFrom };
  } catch (error) {
    await file?.abandon(resume);
    // The connection is not left open. A body that is being read is locked, and its reader has
    // cancelled it.
    if (!opened.body.locked) await opened.body.cancel().catch(() => undefined);
    throw error;
  } finally {
    await unlock?.();
  }
}

/**
 * Locks an unfinished file for one download. Two of them would truncate and rename each other's
 * bytes.
 *
 * @param part an absolute path
 * @returns unlocks it
 * @throws {ConfigurationError} if this or another process has locked it
 */
async function lockPart(part: string): Promise<() => Promise<void>> {
  const { holder, release } = await lockFile(`${part}.lock`);
  if (release) return release;
  if (holder.pid === globalThis.process.pid)
    throw new ConfigurationError('another download of this process is saving to this path');
  throw new ConfigurationError(
    `process ${holder.pid} on ${holder.host} is saving to this path. Wait for it, or save to another path. If that process is certainly gone, remove the file that ends in .part.lock`,
  );
}

async function download(
  fs: FileSystem,
  source: RecordingSource,
  first: OpenedRecording,
  file: PartFile,
  options: SaveOptions,
): Promise<{ bytes: number; resumedFrom: number }> {
  const { signal, resume = false } = options;
  const notePath = `${file.path}.json`;
  let note = noteOf(source.id, first);
  const left = resume ? await readNote(fs, notePath) : undefined;
  const resumedFrom = usableBytes(await file.size(), left, note, first.resumable);
  let received = resumedFrom;
  let opened: OpenedRecording | undefined = first;
  if (resumedFrom > 0) {
    await first.body.cancel();
    if (resumedFrom === note.total) {
      await orAbort(Promise.resolve(options.onProgress?.({ received, total: note.total })), signal);
      return { bytes: received, resumedFrom };
    }
    opened = undefined;
  }
  for (let retry = 1; ; retry++) {
    // The transport retries the request. This loop handles bodies that break.
    opened ??= await openRest(source, received, note, signal);
    note = noteFor(source, opened, note);
    await file.truncate(opened.start);
    if (resume) await writeNote(fs, notePath, note);
    try {
      const bytes = await copy(opened, file, options, (now) => (received = now));
      return { bytes, resumedFrom: Math.min(resumedFrom, opened.start) };
    } catch (error) {
      const delay = resume && isConnectionError(error) ? source.delay(retry) : undefined;
      if (delay === undefined) throw error;
      opened = undefined;
      // Without a size or a validator, the rest of another recording could not be told apart.
      if (!first.resumable || !canIdentify(note)) received = 0;
      await source.pause(delay, signal);
    }
  }
}

/**
 * Copies a body to the file, from the body's own start on, and checks the final size.
 *
 * @param advance called with the number of bytes that the file then has
 * @throws {NetworkError} if the recording is shorter or longer than announced
 */
export async function copy(
  opened: OpenedRecording,
  file: PartFile,
  options: SaveOptions,
  advance: (received: number) => void,
): Promise<number> {
  const { total, start } = opened;
  const reader = opened.body.getReader();
  let received = start;
  const report = async (): Promise<void> => {
    advance(received);
    await orAbort(Promise.resolve(options.onProgress?.({ received, total })), options.signal);
  };
  try {
    await report();
    for (;;) {
      const { done, value } = await orAbort(reader.read(), options.signal);
      if (done) break;
      await file.write(value, received);
      received += value.byteLength;
      await report();
    }
  } catch (error) {
    void reader.cancel(error).catch(() => undefined);
    throw error;
  }
  if (total === undefined || received === total) return received;
  throw new NetworkError(`the recording has ${received} bytes where ${total} were announced`, {
    maybeSent: true,
  });
}
