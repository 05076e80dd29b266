import { orAbort } from './clock.ts';
import { ApiError, ConfigurationError, NetworkError } from './errors.ts';
import { invalidResponse } from './http/exchange.ts';
import { isConnectionError } from './http/transport.ts';
import type {
  OpenedRecording,
  RecordingSource,
  SavedRecording,
  SaveOptions,
} from './recordings.ts';

type FileSystem = typeof import('node:fs/promises');
type File = Awaited<ReturnType<FileSystem['open']>>;

const ownerOnly = 0o600;

/**
 * Saves a recording as `Recording.saveTo` describes, with the file system of the runtime. It is
 * written under another name beside `path`, which no other download uses, and renamed at the end.
 */
export async function saveRecording(
  source: RecordingSource,
  opened: OpenedRecording,
  path: string,
  options: SaveOptions,
): Promise<SavedRecording> {
  let undo: (() => Promise<void>) | undefined;
  try {
    options.signal?.throwIfAborted();
    const fs = fileSystem();
    const part = `${path}.${crypto.randomUUID()}.part`;
    const file = await fs.open(part, 'wx', options.mode ?? ownerOnly);
    undo = async () => {
      await file.close().catch(() => undefined);
      await fs.rm(part, { force: true });
    };
    const bytes = await download(source, opened, file, options);
    await file.sync();
    await file.close();
    await fs.rename(part, path);
    return { path, bytes };
  } catch (error) {
    await undo?.();
    // The connection is not left open. A body that is being read is locked, and its reader has
    // cancelled it.
    if (!opened.body.locked) await opened.body.cancel().catch(() => undefined);
    throw error;
  }
}

/**
 * Loads the file system. An import would break bundles for browsers and Workers.
 *
 * @throws {ConfigurationError} `unsupported-runtime` if there is none
 */
function fileSystem(): FileSystem {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition, @typescript-eslint/unbound-method -- there may be no process
  const load = globalThis.process?.getBuiltinModule as ((id: string) => unknown) | undefined;
  const found = load?.('node:fs/promises');
  if (found !== undefined) return found as FileSystem;
  throw new ConfigurationError(
    'saveTo needs a file system (Node 20.16 or later, Bun or Deno). Elsewhere, read the body of the recording',
    'unsupported-runtime',
  );
}

/** Writes the recording to the file. The transport retries requests; this, bodies that break. */
async function download(
  source: RecordingSource,
  first: OpenedRecording,
  file: File,
  options: SaveOptions,
): Promise<number> {
  const { signal } = options;
  let opened = first;
  /** What the bytes in the file are of: a 206 response may omit headers of the first one. */
  let whole = first;
  let received = 0;
  for (let retry = 1; ; retry++) {
    if (opened.start === 0) whole = opened;
    await file.truncate(opened.start);
    try {
      return await copy(opened, file, options, (now) => (received = now));
    } catch (error) {
      const delay = isConnectionError(error) ? source.delay(retry) : undefined;
      if (delay === undefined) throw error;
      await source.pause(delay, signal);
    }
    opened = await openRest(source, canResume(whole) ? received : 0, whole, signal);
  }
}

/** The value for `If-Range`: the ETag unless it is weak, else the date. */
function validatorOf({ etag, lastModified }: OpenedRecording): string | undefined {
  return etag?.startsWith('"') ? etag : lastModified;
}

/** Without a size or a validator, the rest of another recording could not be told apart. */
function canResume(whole: OpenedRecording): boolean {
  return whole.resumable && (whole.total !== undefined || validatorOf(whole) !== undefined);
}

/**
 * Requests what is missing. The response starts at `start`, or at 0 if the service sends the whole
 * recording again because it serves no ranges, or the recording has changed.
 *
 * @throws {ApiError} `invalid-response` if the service sends another part
 */
async function openRest(
  source: RecordingSource,
  start: number,
  whole: OpenedRecording,
  signal: AbortSignal | undefined,
): Promise<OpenedRecording> {
  if (start === 0) return source.open(signal);
  let rest: OpenedRecording;
  try {
    rest = await source.open(signal, { start, validator: validatorOf(whole) });
  } catch (error) {
    if (error instanceof ApiError && error.status === 416) return source.open(signal);
    throw error;
  }
  if (rest.start === 0) return rest;
  const sameSize =
    rest.total === undefined || rest.total === whole.total || whole.total === undefined;
  const sameTag = rest.etag === undefined || rest.etag === whole.etag;
  if (rest.start === start && sameSize && sameTag && rest.resumable)
    return { ...rest, total: rest.total ?? whole.total };
  await rest.body.cancel();
  // Some services ignore If-Range. A part of another recording must not be appended, and neither must
  // compressed bytes.
  if (rest.start === start) return source.open(signal);
  const problem = 'the service sent another part of the recording than the requested one';
  throw invalidResponse({ method: 'GET', url: source.url }, problem, 206);
}

/**
 * Copies a body to the file, from the body's own start on, and checks the final size.
 *
 * @param advance called with the number of bytes that the file then has
 * @throws {NetworkError} if the recording is shorter or longer than announced
 */
async function copy(
  opened: OpenedRecording,
  file: File,
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
      await write(file, value, received);
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

async function write(file: File, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength;) {
    const { bytesWritten } = await file.write(bytes, done, undefined, position + done);
    done += bytesWritten;
  }
}
