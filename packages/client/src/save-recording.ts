import { orAbort, sleep } from './clock.ts';
import { ApiError, NetworkError } from './errors.ts';
import { backoff, isConnectionError } from './http/transport.ts';
import { isCompressed, type OpenedPart, type OpenPart } from './open-recording.ts';
import type { Settings } from './options.ts';
import { type File, writeInOneStep } from './replace-file.ts';

/** Saves a recording as `Recording.saveTo` describes, with the file system of the runtime. */
export async function saveRecording(
  settings: Settings,
  open: OpenPart,
  opened: OpenedPart,
  path: string,
  options: SaveOptions,
): Promise<SavedRecording> {
  try {
    options.signal?.throwIfAborted();
    const bytes = await writeInOneStep(path, options.mode ?? 0o600, (file) =>
      download(settings, open, opened, file, options),
    );
    return { path, bytes };
  } catch (error) {
    // The connection is not left open. A body that is being read is locked, and its reader has
    // cancelled it.
    if (!opened.body.locked) await opened.body.cancel().catch(() => undefined);
    throw error;
  }
}

/**
 * Writes the recording to the file. The transport retries requests; this, bodies that break.
 *
 * @returns its size in bytes
 */
async function download(
  settings: Settings,
  open: OpenPart,
  first: OpenedPart,
  file: File,
  options: SaveOptions,
): Promise<number> {
  let opened = first;
  /** What the bytes in the file are of: the headers of a part may lack those of the whole. */
  let whole = first;
  for (let retry = 1; ; retry++) {
    if (opened.start === 0) whole = opened;
    const progress = { received: opened.start, total: opened.total ?? whole.total };
    await file.truncate(opened.start);
    try {
      await copy(opened.body, file, progress, options);
      return progress.received;
    } catch (error) {
      if (retry > settings.retry.limit || !isConnectionError(error)) throw error;
      await sleep(settings.clock, backoff(settings, retry), options.signal);
    }
    opened = await openRest(open, progress.received, whole, options.signal);
  }
}

/**
 * Requests what is missing, or the whole recording again where the parts might not fit together.
 * The response starts at `start`, or at 0.
 */
async function openRest(
  open: OpenPart,
  start: number,
  whole: OpenedPart,
  signal: AbortSignal | undefined,
): Promise<OpenedPart> {
  const etag = whole.headers.get('etag');
  const validator = etag?.startsWith('"') ? etag : whole.headers.get('last-modified');
  if (start === 0 || validator === null || isCompressed(whole.headers)) return open(signal);
  const rest = await open(signal, start, validator).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 416) return undefined;
    throw error;
  });
  if (rest === undefined) return open(signal);
  if (rest.start === 0) return rest;
  // Some services ignore If-Range. A part of another recording must not be appended, and neither must
  // compressed bytes.
  const sameSize = [undefined, whole.total].includes(rest.total) || whole.total === undefined;
  const sameTag = [null, etag].includes(rest.headers.get('etag'));
  if (rest.start === start && sameSize && sameTag && !isCompressed(rest.headers)) return rest;
  await rest.body.cancel();
  return open(signal);
}

/**
 * Copies a body to the file, from `progress.received` on, and checks the final size.
 *
 * @throws {NetworkError} if the recording is shorter or longer than announced
 */
async function copy(
  body: ReadableStream<Uint8Array>,
  file: File,
  progress: { received: number; readonly total: number | undefined },
  { signal, onProgress }: SaveOptions,
): Promise<void> {
  const reader = body.getReader();
  const report = () => orAbort(Promise.resolve(onProgress?.({ ...progress })), signal);
  try {
    await report();
    for (;;) {
      const { done, value } = await orAbort(reader.read(), signal);
      if (done) break;
      await write(file, value, progress.received);
      progress.received += value.byteLength;
      await report();
    }
  } catch (error) {
    void reader.cancel(error).catch(() => undefined);
    throw error;
  }
  const { received, total } = progress;
  if (total === undefined || received === total) return;
  throw new NetworkError(`the recording has ${received} bytes, but ${total} were announced`, {
    maybeSent: true,
  });
}

async function write(file: File, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength;) {
    const { bytesWritten } = await file.write(bytes, done, undefined, position + done);
    done += bytesWritten;
  }
}

/** The progress of a download, in bytes. */
export interface SaveProgress {
  /** The number of bytes that have arrived. */
  readonly received: number;
  /** The size of the recording in bytes; `undefined` if the service does not send it. */
  readonly total: number | undefined;
}

/** The options of `saveTo`. */
export interface SaveOptions {
  /**
   * Called, and awaited, at the start and after every piece. An error that it throws fails the
   * download.
   */
  readonly onProgress?: ((progress: SaveProgress) => unknown) | undefined;
  /**
   * Aborts the download, which rejects with the signal's reason; by default, the signal of the request.
   */
  readonly signal?: AbortSignal | undefined;
  /** The permissions of the file; `0o600` by default, so that only the current user can read it. */
  readonly mode?: number | undefined;
}

/** The result of `saveTo`. */
export interface SavedRecording {
  /** The path of the file. */
  readonly path: string;
  /** The size of the file, in bytes. */
  readonly bytes: number;
}
