import { endpoint } from '../http/request.ts';
import type { Transport } from '../http/transport.ts';
import { iteratePages, pageQuery, readPage, type Page, type PageOptions } from '../paging/page.ts';
import type { AnyEventSearch } from '../search/index.ts';
import type { Settings } from '../settings.ts';
import type { ActivityEvent } from './activity-event.ts';

/** The options of `client.events.list` and `iterate`. */
export interface EventListOptions extends PageOptions {
  /** A search from `eventSearch()`, or a string, which is sent unchanged. */
  readonly search?: string | AnyEventSearch | undefined;
}

/** Activity events on sent messages: `GET /v1/events`. */
export interface Events {
  /**
   * Gets one page.
   *
   * @throws {ConfigurationError} if `limit` is not a page size
   * @throws {InvalidResponseError} if the next page cannot be found; the message names the setting
   * of `wire` to change
   * @throws {ApiError | NetworkError | TimeoutError | RedirectError}
   */
  list(options?: EventListOptions): Promise<Page<ActivityEvent>>;
  /**
   * Gets all events, and requests each page when it is needed. Events with an unknown `action` are
   * included, see UnknownActivityEvent.
   *
   * @throws like `list`, at the result where it happens
   * @throws {InvalidResponseError} if the service repeats a cursor
   *
   * @example
   * for await (const event of client.events.iterate({ search: eventSearch().type('replied') })) {
   *   console.log(event.recipientEmail);
   * }
   */
  iterate(options?: EventListOptions): AsyncGenerator<ActivityEvent, void, undefined>;
}

/** Creates `client.events`. */
export function createEvents(settings: Settings, transport: Transport): Events {
  const { wire, baseUrl } = settings;
  async function list(options: EventListOptions = {}): Promise<Page<ActivityEvent>> {
    const url = endpoint(baseUrl, '/events', {
      search: options.search?.toString() || undefined,
      ...pageQuery(options, wire),
    });
    const spec = { method: 'GET', url, signal: options.signal } as const;
    return readPage(spec, await transport.json(spec), { path: 'results' }, wire);
  }
  return { list, iterate: (options = {}) => iteratePages(options, list) };
}
