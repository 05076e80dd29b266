import { sleep } from './clock.ts';
import { ConfigurationError } from './errors.ts';
import { expectedLength, hasBegun } from './http/body.ts';
import { endpoint, invalidResponse, pathSegment, type RequestSpec } from './http/exchange.ts';
import { backoff, type OpenResponse, type Transport } from './http/transport.ts';
import type { Settings } from './options.ts';

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

/** The progress of a download. */
export interface SaveProgress {
  /** Bytes in the file so far. */
  readonly received: number;
  /** Size of the whole recording in bytes, if it is known. */
  readonly total: number | undefined;
}

/** The options of `saveTo`. */
export interface SaveOptions {
  /**
   * Called at the start and after every piece that was written, and awaited. If it throws or
   * rejects, the download fails with that error.
   */
  readonly onProgress?: ((progress: SaveProgress) => unknown) | undefined;
  /** Aborts the download, which rejects with the signal's reason. Defaults to that of the request. */
  readonly signal?: AbortSignal | undefined;
  /** The permissions of the file. Defaults to 0o600: only this user can read it. */
  readonly mode?: number | undefined;
}

/** The result of `saveTo`. */
export interface SavedRecording {
  readonly path: string;
  /** The size of the file, in bytes. */
  readonly bytes: number;
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
   * If the connection breaks, the rest is requested (with `Range`) up to the limit of `retries`. A
   * download that fails or is killed begins anew with the next call.
   *
   * @throws {NetworkError} if the connection breaks too often, or the length is not the announced one
   * @throws {ConfigurationError} if the body was read or `saveTo` called before; with the code
   * `unsupported-runtime` if there is no file system
   * @throws {ApiError | TimeoutError} and errors of the file system, such as ENOSPC
   *
   * @example
   * await recording.saveTo('call.audio');
   */
  saveTo(path: string, options?: SaveOptions): Promise<SavedRecording>;
}

/**
 * The fields of a `call:recording-available` event that a download needs: one of them is enough. An
 * event may lack fields, since the spec does not say which ones are always there.
 */
export interface RecordingAvailable {
  readonly callId?: string | null | undefined;
  readonly recordingUrl?: string | null | undefined;
}

/** Recordings that events announce. */
export interface Recordings {
  /**
   * Starts to download the recording of a `call:recording-available` event. Uses `recordingUrl` if
   * it is below the configured base URL. If the event has none, uses `callId`.
   *
   * @throws {ConfigurationError} if the event has neither `recordingUrl` nor `callId`, or
   * `recordingUrl` is not an absolute URL; nothing is requested
   * @throws {ConfigurationError} `foreign-origin` if `recordingUrl` is not below the base URL; nothing
   * is requested. If you trust the event, `client.calls.recording(event.callId)` asks the configured
   * service.
   * @throws {ApiError} `invalid-response` if the response is JSON, HTML or XML instead of audio
   * @throws {NetworkError | TimeoutError}
   *
   * @example
   * 'call:recording-available': async (event) => {
   *   const recording = await client.recordings.fromEvent(event);
   *   await recording.saveTo('call.audio');
   * }
   */
  fromEvent(event: RecordingAvailable, options?: RecordingOptions): Promise<Recording>;
  /**
   * Starts to download the recording of a call. The same as `client.calls.recording`.
   *
   * @throws like `client.calls.recording`
   */
  ofCall(callId: string, options?: RecordingOptions): Promise<Recording>;
}

/** Creates `client.recordings`. */
export function createRecordings(settings: Settings, transport: Transport): Recordings {
  async function open(url: URL, options: RecordingOptions = {}): Promise<Recording> {
    const { signal, anyContentType = false } = options;
    const source = recordingSource(settings, transport, url, anyContentType);
    return createRecording(source, await source.open(signal), signal);
  }
  async function ofCall(callId: string, options?: RecordingOptions): Promise<Recording> {
    const path = `/calls/${pathSegment('callId', callId)}/recording`;
    return open(endpoint(settings.baseUrl, path), options);
  }
  return {
    ofCall,
    async fromEvent({ recordingUrl, callId }, options) {
      if (isPresent(recordingUrl)) return open(eventUrl(recordingUrl, settings.baseUrl), options);
      if (isPresent(callId)) return ofCall(callId, options);
      throw new ConfigurationError(
        'the event has neither a recordingUrl nor a callId, so its recording cannot be found',
      );
    },
  };
}

function isPresent(value: string | null | undefined): value is string {
  return value !== undefined && value !== null && value !== '';
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

/** The recording that users see, for a download that has started. */
function createRecording(
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
      const { saveRecording } = await import('./save-recording.ts');
      return saveRecording(source, opened, path, { ...options, signal: options.signal ?? signal });
    },
  };
}

/** A recording, or the rest of one, whose headers have arrived. */
export interface OpenedRecording {
  readonly body: ReadableStream<Uint8Array>;
  /** The index of the body's first byte in the whole recording. */
  readonly start: number;
  /** The size of the whole recording in bytes, if it is known. */
  readonly total: number | undefined;
  readonly contentType: string | undefined;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  /** False if the service says that it serves no ranges, or compresses the bytes. */
  readonly resumable: boolean;
}

/** The rest of a download: the bytes from `start` on, if the recording is still the same. */
export interface ResumePoint {
  /** The first byte that is missing. */
  readonly start: number;
  /** An ETag or a date for `If-Range`. Without it only the sizes are compared. */
  readonly validator: string | undefined;
}

/** Requests the bytes of a recording, as often as needed. */
export interface RecordingSource {
  /** For errors. */
  readonly url: URL;
  /** Requests the recording, or the rest of it. */
  open(signal: AbortSignal | undefined, from?: ResumePoint): Promise<OpenedRecording>;
  /** The time to wait before reconnection number `retry`, in ms. Undefined if there are no more. */
  delay(retry: number): number | undefined;
  /** Waits, in ms. */
  pause(delay: number, signal: AbortSignal | undefined): Promise<void>;
}

/** Creates the source of a recording from its URL, which is of the configured origin. */
function recordingSource(
  settings: Settings,
  transport: Transport,
  url: URL,
  anyContentType: boolean,
): RecordingSource {
  return {
    url,
    async open(signal, from) {
      // Compressed bytes can be neither counted nor resumed.
      const headers: Record<string, string> = { accept: '*/*', 'accept-encoding': 'identity' };
      if (from !== undefined) headers['range'] = `bytes=${from.start}-`;
      if (from?.validator !== undefined) headers['if-range'] = from.validator;
      const spec = { method: 'GET', url, headers, signal } as const;
      const received = await transport.open(spec);
      try {
        if (!anyContentType) checkContentType(spec, received.response);
        return readOpened(spec, received, from !== undefined);
      } catch (error) {
        void received.body.cancel().catch(() => undefined);
        throw error;
      }
    },
    delay: (retry) => (retry > settings.retry.limit ? undefined : backoff(settings, retry)),
    pause: (delay, signal) => sleep(settings.clock, delay, signal),
  };
}

function checkContentType(spec: RequestSpec, response: Response): void {
  const type = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (
    !/^(?:text\/html|(?:application|text)\/(?:.+\+)?(?:json|xml)|application\/xhtml\+xml)$/.test(
      type,
    )
  )
    return;
  const fix = 'To accept any content type, pass anyContentType: true';
  throw invalidResponse(spec, `the recording came as ${type}, which is not audio. ${fix}`);
}

const contentRange = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/;

/**
 * Reads the headers of a download.
 *
 * @param asked whether only the rest was requested
 * @throws {ApiError} `invalid-response` if a 206 response was not asked for, or does not say its range
 */
function readOpened(
  spec: RequestSpec,
  { response, body }: OpenResponse,
  asked: boolean,
): OpenedRecording {
  const header = (name: string): string | undefined => response.headers.get(name) ?? undefined;
  let start = 0;
  let total = expectedLength(response);
  if (response.status === 206) {
    const range = contentRange.exec(header('content-range') ?? '');
    if (range === null || !asked) {
      const problem = asked
        ? 'the service sent a part of the recording without a Content-Range header'
        : 'the service sent a part of the recording when the whole was requested';
      throw invalidResponse(spec, problem, 206);
    }
    start = Number(range[1]);
    total = range[3] === '*' ? undefined : Number(range[3]);
  }
  const encoding = header('content-encoding') ?? 'identity';
  return {
    body,
    start,
    total,
    contentType: header('content-type'),
    etag: header('etag'),
    lastModified: header('last-modified'),
    resumable: encoding === 'identity' && header('accept-ranges') !== 'none',
  };
}
