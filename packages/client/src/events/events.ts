import { describe, endpoint } from '../http/request.ts';
import type { Transport } from '../http/transport.ts';
import { iteratePages } from '../paging/iterate.ts';
import { pageQuery, readPage, type Page, type PageOptions } from '../paging/page.ts';
import type { AnyEventSearch } from '../search/index.ts';
import type { Settings } from '../settings.ts';
import type { ActivityEvent } from './types.ts';

/** The options of `client.events.list` and `iterate`. */
export interface EventListOptions extends PageOptions {
  /** A builder from `eventSearch()`, or a text, which is sent as it is. */
  readonly search?: string | AnyEventSearch | undefined;
}

/** The activity events on sent messages: `GET /v1/events`. */
export interface Events {
  /**
   * Gets one page.
   *
   * @throws {ConfigurationError} for a `limit` that is no page size
   * @throws {ApiError | NetworkError | TimeoutError | RedirectError | InvalidResponseError}
   */
  list(options?: EventListOptions): Promise<Page<ActivityEvent>>;
  /**
   * Gets all events, page by page, as fast as they are consumed. An `action` that is not one of the
   * seven is kept, see UnknownActivityEvent.
   *
   * @throws as `list`, at the result where it happens
   */
  iterate(options?: EventListOptions): AsyncGenerator<ActivityEvent, void, undefined>;
}

/** Makes `client.events`. */
export function createEvents(settings: Settings, transport: Transport): Events {
  const { wire, baseUrl } = settings;
  async function list(options: EventListOptions = {}): Promise<Page<ActivityEvent>> {
    const url = endpoint(baseUrl, '/events', {
      search: options.search?.toString() || undefined,
      ...pageQuery(options, wire),
    });
    const spec = { method: 'GET', url, signal: options.signal } as const;
    return readPage(await transport.json(spec), describe(spec), 'results', wire);
  }
  return { list, iterate: (options = {}) => iteratePages(options, list) };
}
