import { endpoint, type QueryValue } from './http/request.ts';
import type { Transport } from './http/transport.ts';
import { iteratePages, pageQuery, readPage, type Page, type PageOptions } from './paging/page.ts';
import type { Recording, RecordingOptions } from './recordings/recording.ts';
import type { Recordings } from './recordings/recordings.ts';
import type { Settings } from './settings.ts';

/** A record of `GET /v1/calls`. The spec shows only its `_id`; other fields are passed on as they come. */
export interface CallRecord {
  /** Equals the `callId` of the webhook events. */
  readonly _id: string;
  readonly [field: string]: unknown;
}

/** The options of `client.calls.list` and `iterate`. */
export interface CallListOptions extends PageOptions {
  /** Other query parameters. The spec shows none. */
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
}

/** Calls and their recordings: `GET /v1/calls` and `GET /v1/calls/{id}/recording`. */
export interface Calls {
  /**
   * Gets one page of call records. Paging is assumed to work as for events, which is a guess.
   *
   * @throws {ConfigurationError} if `limit` is not a page size
   * @throws {InvalidResponseError} if records or the next page cannot be found; the message names
   * the setting of `wire` to change
   * @throws {ApiError | NetworkError | TimeoutError | RedirectError}
   */
  list(options?: CallListOptions): Promise<Page<CallRecord>>;
  /** Gets all call records, and requests each page when it is needed. @throws like `list` */
  iterate(options?: CallListOptions): AsyncGenerator<CallRecord, void, undefined>;
  /**
   * Starts to download a recording. Resolves when the headers have arrived.
   *
   * @param callId the `callId` of an event, or the `_id` of a call record
   * @throws {ApiError} `not-found` if there is no such recording
   * @throws {InvalidResponseError} if the response is JSON, HTML or XML instead of audio
   * @throws {ConfigurationError | NetworkError | TimeoutError | RedirectError}
   *
   * @example
   * const recording = await client.calls.recording('call-id');
   * await recording.saveTo('call.audio');
   */
  recording(callId: string, options?: RecordingOptions): Promise<Recording>;
}

/** Creates `client.calls`. */
export function createCalls(
  settings: Settings,
  transport: Transport,
  recordings: Pick<Recordings, 'ofCall'>,
): Calls {
  const { wire, baseUrl } = settings;
  const field = { path: wire.callsField, setting: 'callsField' } as const;
  async function list(options: CallListOptions = {}): Promise<Page<CallRecord>> {
    const url = endpoint(baseUrl, '/calls', {
      ...options.query,
      ...pageQuery(options, wire),
    });
    const spec = { method: 'GET', url, signal: options.signal } as const;
    return readPage(spec, await transport.json(spec), field, wire);
  }
  return {
    list,
    iterate: (options = {}) => iteratePages(options, list),
    recording: (callId, options) => recordings.ofCall(callId, options),
  };
}
