import { ConfigurationError } from './errors.ts';
import { hasBegun } from './http/body.ts';
import { endpoint, invalidResponse, pathSegment } from './http/exchange.ts';
import type { Transport } from './http/transport.ts';
import type { Settings } from './options.ts';

/** The options of a download. */
export interface RecordingOptions {
  /** Aborts the request and the body. Both fail with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Accepts JSON, HTML and XML too, which are error pages rather than audio. Defaults to false. */
  readonly anyContentType?: boolean | undefined;
}

/** The progress of a download, in bytes. */
export interface SaveProgress {
  readonly received: number;
  /** Undefined if the service does not say it. */
  readonly total: number | undefined;
}

/** The options of `saveTo`. */
export interface SaveOptions {
  /** Called at the start and after every piece, and awaited. Its error fails the download. */
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

/** A recording whose headers have arrived. Read or cancel `body`, or call `saveTo`, once. */
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
   * disk. An existing file is replaced. If the connection breaks, the rest is requested up to the
   * limit of `retries`.
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

/** The fields of a `call:recording-available` event that a download needs: one of them is enough. */
export interface RecordingAvailable {
  readonly callId?: string | null | undefined;
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
  /** The same as `client.calls.recording`. @throws like it */
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
            'the body of this recording is being read, or was read before',
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

/** A recording, or the rest of one, whose headers have arrived. */
export interface OpenedPart {
  readonly body: ReadableStream<Uint8Array>;
  readonly headers: Headers;
  /** The index of the body's first byte in the whole recording. */
  readonly start: number;
  /** The size of the whole recording in bytes, if it is known. */
  readonly total: number | undefined;
}

/** Requests a recording: the bytes from `start` on if it still has this validator, or all of them. */
export type OpenPart = (
  signal: AbortSignal | undefined,
  start?: number,
  validator?: string,
) => Promise<OpenedPart>;

const notAudio =
  /^(?:text\/html|(?:application|text)\/(?:.+\+)?(?:json|xml)|application\/xhtml\+xml)$/;
const contentRange = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/;

async function openPart(
  transport: Transport,
  url: URL,
  options: RecordingOptions & { start: number | undefined; validator: string | undefined },
): Promise<OpenedPart> {
  const { start, validator, signal } = options;
  // Compressed bytes can be neither counted nor resumed.
  const asked: Record<string, string> = { accept: '*/*', 'accept-encoding': 'identity' };
  if (start !== undefined) asked['range'] = `bytes=${start}-`;
  if (validator !== undefined) asked['if-range'] = validator;
  const spec = { method: 'GET', url, headers: asked, signal } as const;
  const { response, body } = await transport.open(spec);
  const { headers, status } = response;
  const refuse = (problem: string): Error => {
    void body.cancel().catch(() => undefined);
    return invalidResponse(spec, problem, status);
  };
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (notAudio.test(type) && !options.anyContentType)
    throw refuse(
      `the recording came as ${type}, which is not audio. To accept any content type, pass anyContentType: true`,
    );
  if (status !== 206) return { body, headers, start: 0, total: lengthOf(headers) };
  const range = contentRange.exec(headers.get('content-range') ?? '');
  if (range === null || start === undefined)
    throw refuse('the service sent a part of the recording that was not asked for');
  const total = range[2] === '*' ? undefined : Number(range[2]);
  return { body, headers, start: Number(range[1]), total };
}

/** The length of a body in bytes. Undefined if it is unknown or compressed. */
function lengthOf(headers: Headers): number | undefined {
  const length = headers.get('content-length') ?? '';
  return /^\d{1,15}$/.test(length) && !isCompressed(headers) ? Number(length) : undefined;
}

/** Whether the bytes that `fetch` returns are others than those that were sent. */
export function isCompressed(headers: Headers): boolean {
  return (headers.get('content-encoding') ?? 'identity') !== 'identity';
}
