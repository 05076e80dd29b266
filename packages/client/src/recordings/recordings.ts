import { ConfigurationError, ForeignOriginError } from '../errors/index.ts';
import { endpoint, pathSegment } from '../http/request.ts';
import type { Transport } from '../http/transport.ts';
import type { Settings } from '../settings.ts';
import { createRecording, type Recording } from './recording.ts';
import { recordingSource } from './source.ts';

/** The options of a download. */
export interface RecordingOptions {
  /** Ends the request and the body; both fail with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What is used of a `call:recording-available` event. */
export interface RecordingAvailable {
  readonly callId: string;
  readonly recordingUrl?: string | undefined;
}

/** The recordings that events speak of. */
export interface Recordings {
  /**
   * Starts the download that a `call:recording-available` event announces. Its `recordingUrl` is
   * used only below the configured base URL; an event without one is looked up by its `callId`.
   *
   * @throws {ForeignOriginError} when `recordingUrl` leads anywhere else; nothing is requested. If
   * you trust the event, `client.calls.recording(event.callId)` asks the configured service.
   * @throws {ApiError | ConfigurationError | NetworkError | TimeoutError | RedirectError}
   */
  fromEvent(event: RecordingAvailable, options?: RecordingOptions): Promise<Recording>;
  /**
   * Starts the download of a call's recording; the same as `client.calls.recording`.
   *
   * @throws as `client.calls.recording`
   */
  ofCall(callId: string, options?: RecordingOptions): Promise<Recording>;
}

function eventUrl(recordingUrl: string, baseUrl: URL): URL {
  let url: URL;
  try {
    url = new URL(recordingUrl);
  } catch {
    throw new ConfigurationError('recordingUrl is not an absolute URL');
  }
  const prefix = `${baseUrl.pathname.replace(/\/$/, '')}/`;
  const credentials = url.username !== '' || url.password !== '';
  if (url.origin === baseUrl.origin && url.pathname.startsWith(prefix) && !credentials) return url;
  throw new ForeignOriginError(
    'recordingUrl does not lead to the configured baseUrl, so it is not requested',
    url.origin,
  );
}

/** Makes `client.recordings`. */
export function createRecordings(settings: Settings, transport: Transport): Recordings {
  async function open(url: URL, options: RecordingOptions = {}): Promise<Recording> {
    const source = recordingSource(settings, transport, url);
    return createRecording(source, await source.open(options.signal), options.signal);
  }
  async function ofCall(callId: string, options?: RecordingOptions): Promise<Recording> {
    const path = `/calls/${pathSegment('callId', callId)}/recording`;
    return open(endpoint(settings.baseUrl, path), options);
  }
  return {
    ofCall,
    async fromEvent(event, options) {
      if (event.recordingUrl === undefined) return ofCall(event.callId, options);
      return open(eventUrl(event.recordingUrl, settings.baseUrl), options);
    },
  };
}
