import { ConfigurationError, ForeignOriginError } from '../errors/index.ts';
import { endpoint, pathSegment } from '../http/request.ts';
import type { Transport } from '../http/transport.ts';
import type { Settings } from '../settings.ts';
import { createRecording, type Recording, type RecordingOptions } from './recording.ts';
import { recordingSource } from './source.ts';

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
   * @throws {ForeignOriginError} if `recordingUrl` is of another origin; nothing is requested. If you
   * trust the event, `client.calls.recording(event.callId)` asks the configured service.
   * @throws {InvalidResponseError} if the response is JSON, HTML or XML instead of audio
   * @throws {ApiError | NetworkError | TimeoutError | RedirectError}
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
  throw new ForeignOriginError(
    'the recordingUrl of the event is not below the configured baseUrl, so it is not requested',
    url.origin,
  );
}
