import { headerValue, type HeadersLike } from './request.ts';

/** What `tenant` gets to see of a request: the same in every framework. Nothing of it is verified. */
export interface TenantRequest {
  /** The path as it was sent, percent-encoded and without the query: `'/hooks/acme'`. */
  readonly path: string;
  /** The query of the URL. */
  readonly query: URLSearchParams;
  /** The `host` header in lower case, with its port if it has one; `''` if there is none. */
  readonly host: string;
  /** The headers by their names in lower case. Several values are joined with a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i;

/** The parts of a request, read when they are asked for. */
export class RequestView implements TenantRequest {
  readonly #url: string;
  readonly #headers: HeadersLike;

  /** @param url as it was sent, with or without its origin */
  constructor(url: string, headers: HeadersLike) {
    this.#url = url;
    this.#headers = headers;
  }

  get path(): string {
    return this.#url.replace(ORIGIN, '').split(/[?#]/, 1)[0] || '/';
  }

  get query(): URLSearchParams {
    return new URLSearchParams(/\?([^#]*)/.exec(this.#url)?.[1] ?? '');
  }

  get host(): string {
    // HTTP/2 has a pseudo-header in its place, and fetch's Request may have only the URL.
    const given =
      headerValue(this.#headers, 'host') ||
      (isHeaders(this.#headers) ? undefined : headerValue(this.#headers, ':authority')) ||
      ORIGIN.exec(this.#url)?.[1];
    return joined(given ?? '').toLowerCase();
  }

  get headers(): Record<string, string | undefined> {
    const all: Record<string, string> = {};
    const entries = isHeaders(this.#headers)
      ? this.#headers.entries()
      : Object.entries(this.#headers);
    for (const [name, value] of entries) {
      if (value === undefined) continue;
      // Not by assignment: a header may be called __proto__.
      Object.defineProperty(all, name.toLowerCase(), {
        value: joined(value),
        enumerable: true,
        configurable: true, // two names may differ only by case
      });
    }
    return all;
  }
}

const isHeaders = (headers: HeadersLike): headers is Headers => typeof headers.get === 'function';

const joined = (value: string | readonly string[]): string =>
  typeof value === 'string' ? value : value.join(', ');
