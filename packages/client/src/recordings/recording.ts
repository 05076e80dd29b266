import { ConfigurationError } from '../errors/index.ts';
import { hasBegun } from '../http/body.ts';
import type { SavedRecording, SaveOptions } from './save/options.ts';
import type { OpenedRecording, RecordingSource } from './source.ts';

/** The options of a download. */
export interface RecordingOptions {
  /** Aborts the request and the body. Both fail with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Accepts a response of any content type. By default JSON, HTML and XML are refused, because they
   * are error pages or descriptions rather than audio. Defaults to false.
   */
  readonly anyContentType?: boolean | undefined;
}

/**
 * A recording whose headers have arrived. Read `body` or call `saveTo`: one of the two, once. If you
 * need neither, call `body.cancel()` to free the connection.
 */
export interface Recording {
  /** The bytes as they arrive. If the download breaks or is too short, the stream fails. */
  readonly body: ReadableStream<Uint8Array>;
  /** The content type from the service. The spec shows no format. */
  readonly contentType: string | undefined;
  /** In bytes. Undefined if the service does not say it. */
  readonly contentLength: number | undefined;
  readonly etag: string | undefined;
  /**
   * Writes the recording to a file beside `path`, and renames it when it is complete and on the
   * disk, so that `path` never holds a part of it. An existing file is replaced.
   *
   * @throws {NetworkError} if the connection breaks, or the length is not the announced one
   * @throws {ConfigurationError} if the body was read or `saveTo` called before, or if another
   * download with `resume` is saving to this path
   * @throws {UnsupportedRuntimeError} if there is no file system
   * @throws {ApiError | TimeoutError | RedirectError | InvalidResponseError} and errors of the file
   * system, such as ENOSPC
   *
   * @example
   * await recording.saveTo('call.audio', { resume: true });
   */
  saveTo(path: string, options?: SaveOptions): Promise<SavedRecording>;
}

/** Creates the recording that users see for a download that has started. */
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
        throw new ConfigurationError(
          'the body of this recording is being read, or was read before',
        );
      }
      saving = true;
      // Loaded when needed, so that bundles for browsers do not carry it.
      const { saveRecording } = await import('./save/save-recording.ts');
      return saveRecording(source, opened, path, { ...options, signal: options.signal ?? signal });
    },
  };
}
