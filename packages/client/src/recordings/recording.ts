import { ConfigurationError } from '../errors/index.ts';
import { hasBegun } from '../http/body.ts';
import type { OpenedRecording } from './opened.ts';
import type { SavedRecording, SaveOptions } from './save/options.ts';
import type { RecordingSource } from './source.ts';

/**
 * A recording whose headers have arrived. Read `body`, or call `saveTo`: one of the two, once. If you
 * want neither, `body.cancel()` frees the connection.
 */
export interface Recording {
  /** The bytes as they arrive. A broken or truncated download errors the stream. */
  readonly body: ReadableStream<Uint8Array>;
  /** As the service says it. The spec shows no format. */
  readonly contentType: string | undefined;
  /** In bytes; undefined where the service does not say it. */
  readonly contentLength: number | undefined;
  readonly etag: string | undefined;
  /**
   * Writes the recording beside `path` and renames it when it is whole and on the disk, so that
   * `path` never holds a part of it. A file that is there is replaced.
   *
   * @throws {NetworkError} when the connection breaks or the length is not the announced one
   * @throws {ConfigurationError} when the body was read, or saveTo called, before, and when another
   * download with `resume` is saving to this path
   * @throws {UnsupportedRuntimeError} where there is no file system
   * @throws {ApiError | TimeoutError | RedirectError | InvalidResponseError} and what the file
   * system throws, such as ENOSPC
   */
  saveTo(path: string, options?: SaveOptions): Promise<SavedRecording>;
}

/** Gives an opened download its public face. */
export function createRecording(
  source: RecordingSource,
  opened: OpenedRecording,
  signal: AbortSignal | undefined,
): Recording {
  let saving = false;
  return {
    body: opened.body,
    contentType: opened.contentType,
    contentLength: opened.total,
    etag: opened.etag,
    async saveTo(path, options = {}) {
      if (saving || hasBegun(opened.body)) {
        throw new ConfigurationError('the body of this recording is being read, or has been');
      }
      saving = true;
      // Loaded when it is needed, so that bundles for browsers need not carry it.
      const { saveRecording } = await import('./save/save-recording.ts');
      return saveRecording(source, opened, path, { ...options, signal: options.signal ?? signal });
    },
  };
}
