import type { ActivityEvent } from './events.ts';
import type { QueryValue } from './http/exchange.ts';
import { createTransport } from './http/transport.ts';
import { resolveSettings, type ClientOptions } from './options.ts';
import { createList, type Page, type PageOptions } from './paging.ts';
import { createRecordings, type Recording, type Recordings } from './recordings.ts';
import type { RecordingOptions } from './open-recording.ts';
import { createRules, type Rules } from './rules.ts';
import { searchText, type SearchParts } from './search/text.ts';

/**
 * A client for the REST API of the service. It holds no connections, so it does not have to be closed.
 */
export interface Client {
  /** The base URL, without `/v1` and without a slash at the end. */
  readonly baseUrl: string;
  /** Activity events of messages: `GET /v1/events`. */
  readonly events: Events;
  /** Call records and their recordings: `GET /v1/calls`. */
  readonly calls: Calls;
  /** Recordings that `call:recording-available` events announce. */
  readonly recordings: Recordings;
  /** Webhook actions of rules, and their signing secrets. */
  readonly rules: Rules;
}

/** The options of `client.events.list` and `iterate`. */
export interface EventListOptions extends PageOptions {
  /**
   * The parts of a search (see `searchText`), or the text of a search, which is sent unchanged. Without
   * it, all events match.
   */
  readonly search?: string | SearchParts | undefined;
}

/** Activity events on sent messages: `GET /v1/events`. */
export interface Events {
  /**
   * Gets one page.
   *
   * @throws {SearchSyntaxError} if `search` has parts that the search language cannot express
   * @throws {ConfigurationError} if `limit` is not a page size, or `next` cannot be a cursor
   * @throws {ApiError} for a status other than 2xx, and `invalid-response` if the records or the next
   *   page cannot be found: the message names the setting of `wire` to change
   * @throws {NetworkError | TimeoutError}
   */
  list(options?: EventListOptions): Promise<Page<ActivityEvent>>;
  /**
   * Gets all events, including those with an unknown `action`, and requests each page when it is
   * needed.
   *
   * @throws the errors of `list`, and {ApiError} `invalid-response` if the service repeats a cursor
   * @example
   * for await (const event of client.events.iterate({ search: { type: 'replied' } })) {
   *   console.log(event.recipientEmail);
   * }
   */
  iterate(options?: EventListOptions): AsyncGenerator<ActivityEvent, void, undefined>;
}

/**
 * A record of `GET /v1/calls`. The spec shows only its `_id`. All other fields are passed on unchanged.
 */
export interface CallRecord {
  /** The id of the call. It equals the `callId` of the webhook events. */
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
   * Gets one page of call records. The client assumes that paging works as it does for events, which is
   * a guess.
   *
   * @throws {ConfigurationError} if `limit` is not a page size, or `next` cannot be a cursor
   * @throws {ApiError} for a status other than 2xx, and `invalid-response` if the records or the next
   *   page cannot be found
   * @throws {NetworkError | TimeoutError}
   */
  list(options?: CallListOptions): Promise<Page<CallRecord>>;
  /**
   * Gets all call records, and requests each page when its first record is needed.
   *
   * @throws the errors of `list`
   */
  iterate(options?: CallListOptions): AsyncGenerator<CallRecord, void, undefined>;
  /**
   * Starts to download a recording. Resolves when the headers have arrived.
   *
   * @throws {ApiError} `not-found` if there is no such recording, `invalid-response` if the response
   * is JSON, HTML or XML instead of audio
   * @throws {ConfigurationError | NetworkError | TimeoutError}
   *
   * @example
   * const recording = await client.calls.recording('call-id');
   * await recording.saveTo('call.audio');
   */
  recording(callId: string, options?: RecordingOptions): Promise<Recording>;
}

/**
 * Creates a client for one service and one API token.
 *
 * @throws {ConfigurationError} if an option is invalid: a base URL that is not https (plain http is
 *   accepted only for loopback, or with `allowInsecure`), a token that cannot be sent in a header, a
 *   limit out of range
 *
 * @example
 * const client = createClient({
 *   baseUrl: 'https://api.example.com',
 *   apiToken: process.env.API_TOKEN,
 * });
 * const page = await client.events.list({ search: 'type:opened' });
 */
export function createClient(options: ClientOptions): Client {
  const settings = resolveSettings(options);
  const transport = createTransport(settings);
  const recordings = createRecordings(settings, transport);
  const calls = createList<CallRecord, CallListOptions>(settings, transport, {
    path: '/calls',
    field: settings.wire.callsField,
    setting: 'callsField',
    query: ({ query }) => query ?? {},
  });
  const recording: Calls['recording'] = (callId, options) => recordings.ofCall(callId, options);
  return Object.freeze({
    baseUrl: settings.baseUrl.href.replace(/\/$/, ''),
    events: createList<ActivityEvent, EventListOptions>(settings, transport, {
      path: '/events',
      field: 'results',
      query: ({ search }) => ({
        search: (typeof search === 'object' ? searchText(search) : search) || undefined,
      }),
    }),
    calls: { ...calls, recording },
    recordings,
    rules: createRules(settings, transport),
  });
}
