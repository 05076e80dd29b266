import { describe, endpoint, type QueryValue } from '../http/request.ts';
import type { Transport } from '../http/transport.ts';
import { iteratePages } from '../paging/iterate.ts';
import { pageQuery, readPage, type Page, type PageOptions } from '../paging/page.ts';
import type { Recording } from '../recordings/recording.ts';
import type { RecordingOptions, Recordings } from '../recordings/recordings.ts';
import type { Settings } from '../settings.ts';

/** A record of `GET /v1/calls`. The spec shows its `_id` alone; other fields come as they are. */
export interface CallRecord {
  /** Equals the `callId` of the webhook events. */
  readonly _id: string;
  readonly [field: string]: unknown;
}

/** The options of `client.calls.list` and `iterate`. */
export interface CallListOptions extends PageOptions {
  /** Further query parameters. The spec shows none. */
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
}

/** Calls and their recordings: `GET /v1/calls` and `GET /v1/calls/{id}/recording`. */
export interface Calls {
  /**
   * Gets one page of call records. Paging is assumed to be that of events, which is unconfirmed.
   *
   * @throws {ConfigurationError} for a `limit` that is no page size
   * @throws {ApiError | NetworkError | TimeoutError | RedirectError | InvalidResponseError}
   */
  list(options?: CallListOptions): Promise<Page<CallRecord>>;
  /** Gets all call records, page by page, as fast as they are consumed. @throws as `list` */
  iterate(options?: CallListOptions): AsyncGenerator<CallRecord, void, undefined>;
  /**
   * Starts the download of a recording; resolves when its headers are there.
   *
   * @param callId the `callId` of an event, or the `_id` of a call record
   * @throws {ApiError} `not-found` when there is no such recording
   * @throws {ConfigurationError | NetworkError | TimeoutError | RedirectError}
   */
  recording(callId: string, options?: RecordingOptions): Promise<Recording>;
}

/** Makes `client.calls`. */
export function createCalls(
  settings: Settings,
  transport: Transport,
  recordings: Pick<Recordings, 'ofCall'>,
): Calls {
  const { wire, baseUrl } = settings;
  async function list(options: CallListOptions = {}): Promise<Page<CallRecord>> {
    const url = endpoint(baseUrl, '/calls', {
      ...options.query,
      ...pageQuery(options, wire),
    });
    const spec = { method: 'GET', url, signal: options.signal } as const;
    return readPage(await transport.json(spec), describe(spec), wire.callsField, wire);
  }
  return {
    list,
    iterate: (options = {}) => iteratePages(options, list),
    recording: (callId, options) => recordings.ofCall(callId, options),
  };
}
