import { ConfigurationError } from './errors.ts';
import { hasBegun } from './http/body.ts';
import { endpoint, pathSegment } from './http/exchange.ts';
import type { Transport } from './http/transport.ts';
import { type OpenPart, openPart, type RecordingOptions } from './open-recording.ts';
import type { Settings } from './options.ts';
import type { SavedRecording, SaveOptions } from './save-recording.ts';

/** A recording whose headers have arrived. Read or cancel `body`, or call `saveTo`, once. */
export interface Recording {
  /**
   * The bytes of the recording as they arrive. If the download breaks or is too short, the stream
   * fails.
   */
  readonly body: ReadableStream<Uint8Array>;
  /** The content type that the service sent. The spec shows no format. */
  readonly contentType: string | undefined;
  /** The size of the recording in bytes, or `undefined` if the service does not send it. */
  readonly contentLength: number | undefined;
  /** The `ETag` of the recording, or `undefined` if the service sends none. */
  readonly etag: string | undefined;
  /**
   * Writes the recording to a temporary file next to `path`, and renames it once it is complete and on
   * disk. An existing file is replaced. If the connection breaks, the rest is requested, up to the
   * limit of `retries`.
   *
   * @throws {NetworkError} if the connection breaks too often, or the length differs from the announced
   *   one
   * @throws {ConfigurationError} if the body has been read, or `saveTo` has already been called; with
   *   the code `unsupported-runtime` if there is no file system
   * @throws {ApiError | TimeoutError} and errors of the file system, such as ENOSPC
   *
   * @example
   * await recording.saveTo('call.audio');
   */
  saveTo(path: string, options?: SaveOptions): Promise<SavedRecording>;
}

/** The fields of a `call:recording-available` event that a download needs: one of them is enough. */
export interface RecordingAvailable {
  /** The id of the call. */
  readonly callId?: string | null | undefined;
  /** The URL of the recording. */
  readonly recordingUrl?: string | null | undefined;
}

/** Recordings that events announce. */
export interface Recordings {
  /**
   * Starts to download the recording of a `call:recording-available` event, by its `recordingUrl`,
   * or by `callId` if it has none.
   *
   * @throws {ConfigurationError} if the event has neither; `foreign-origin` if `recordingUrl` is not
   * below the base URL. Nothing is requested. If you trust the event,
   * `client.calls.recording(event.callId)` asks the configured service.
   * @throws like `client.calls.recording`
   *
   * @example
   * 'call:recording-available': async (event) => {
   *   const recording = await client.recordings.fromEvent(event);
   *   await recording.saveTo('call.audio');
   * }
   */
  fromEvent(event: RecordingAvailable, options?: RecordingOptions): Promise<Recording>;
  /**
   * Starts to download the recording of a call, as `client.calls.recording` does.
   *
   * @throws {ApiError} `not-found` if there is no such recording
   * @throws {ConfigurationError | NetworkError | TimeoutError}
   */
  ofCall(callId: string, options?: RecordingOptions): Promise<Recording>;
}

/** Creates `client.recordings`. */
export function createRecordings(settings: Settings, transport: Transport): Recordings {
  async function open(url: URL, options: RecordingOptions = {}): Promise<Recording> {
    const { signal, anyContentType = false } = options;
    const request: OpenPart = (abort, start, validator) =>
      openPart(transport, url, { signal: abort, anyContentType, start, validator });
    const opened = await request(signal);
    const { body, headers, total } = opened;
    let isSaving = false;
    return {
      body,
      contentType: headers.get('content-type') ?? undefined,
      contentLength: total,
      etag: headers.get('etag') ?? undefined,
      async saveTo(path, saving = {}) {
        if (isSaving || hasBegun(body))
          throw new ConfigurationError(
            'the body of this recording is being read, or has already been read',
          );
        isSaving = true;
        // Loaded when needed, so that bundles for browsers do not carry it.
        const { saveRecording } = await import('./save-recording.ts');
        return saveRecording(settings, request, opened, path, {
          ...saving,
          signal: saving.signal ?? signal,
        });
      },
    };
  }
  async function ofCall(callId: string, options?: RecordingOptions): Promise<Recording> {
    const path = `/calls/${pathSegment('callId', callId)}/recording`;
    return open(endpoint(settings.baseUrl, path), options);
  }
  return {
    ofCall,
    async fromEvent({ recordingUrl, callId }, options) {
      if (recordingUrl) return open(eventUrl(recordingUrl, settings.baseUrl), options);
      if (callId) return ofCall(callId, options);
      throw new ConfigurationError(
        'the event has neither a recordingUrl nor a callId, so its recording cannot be found',
      );
    },
  };
}

function eventUrl(recordingUrl: string, baseUrl: URL): URL {
  if (!URL.canParse(recordingUrl))
    throw new ConfigurationError('the recordingUrl of the event is not an absolute URL');
  const url = new URL(recordingUrl);
  const prefix = `${baseUrl.pathname.replace(/\/$/, '')}/`;
  const credentials = url.username !== '' || url.password !== '';
  if (url.origin === baseUrl.origin && url.pathname.startsWith(prefix) && !credentials) return url;
  throw new ConfigurationError(
    `the recordingUrl of the event, at ${url.origin}, is not below the configured baseUrl, so it is not requested`,
    'foreign-origin',
  );
}
