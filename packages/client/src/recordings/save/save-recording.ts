import { orAbort } from '../../http/abort.ts';
import { isConnectionTrouble } from '../../http/retry.ts';
import type { OpenedRecording } from '../opened.ts';
import type { RecordingSource } from '../source.ts';
import { claim } from './claim.ts';
import { copy } from './copy.ts';
import { absolute, fileSystem, type FileSystem } from '../../files/file-system.ts';
import type { SavedRecording, SaveOptions } from './options.ts';
import { openPart, type PartFile } from './part-file.ts';
import { canTell, noteOf, readNote, writeNote } from './part-note.ts';
import { noteFor, openRest, usableBytes } from './resume.ts';

const justUs = 0o600;

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
    // Retried by the transport itself; only a body that breaks is this loop's business.
    opened ??= await openRest(source, received, note, signal);
    note = noteFor(source, opened, note);
    await file.truncate(opened.start);
    if (resume) await writeNote(fs, notePath, note);
    try {
      const bytes = await copy(opened, file, options, (now) => (received = now));
      return { bytes, resumedFrom: Math.min(resumedFrom, opened.start) };
    } catch (error) {
      const delay = resume && isConnectionTrouble(error) ? source.delay(retry) : undefined;
      if (delay === undefined) throw error;
      opened = undefined;
      // Without a size or a validator nothing would tell the rest of another recording.
      if (!first.resumable || !canTell(note)) received = 0;
      await source.pause(delay, signal);
    }
  }
}

/** Does what `Recording.saveTo` promises, with the file system of the runtime. */
export async function saveRecording(
  source: RecordingSource,
  opened: OpenedRecording,
  path: string,
  options: SaveOptions,
): Promise<SavedRecording> {
  const resume = options.resume ?? false;
  let file: PartFile | undefined;
  let giveBack: (() => Promise<void>) | undefined;
  try {
    const fs = fileSystem();
    options.signal?.throwIfAborted();
    if (resume) giveBack = await claim(`${absolute(path)}.part`);
    file = await openPart(fs, path, resume, options.mode ?? justUs);
    const { bytes, resumedFrom } = await download(fs, source, opened, file, options);
    await file.finish(path);
    if (resume) await fs.rm(`${file.path}.json`, { force: true });
    return { path, bytes, resumedFrom };
  } catch (error) {
    await file?.abandon(resume);
    // Whatever failed, the connection is not left open. A body that is being read is locked: its
    // reader has cancelled it.
    if (!opened.body.locked) await opened.body.cancel().catch(() => undefined);
    throw error;
  } finally {
    await giveBack?.();
  }
}
