import { ConfigurationError } from '../errors/index.ts';

/** One request to the REST interface, before the token is added. */
export interface RequestSpec {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Called when the request is handed to `fetch`. From then on it may have been sent. */
  readonly onSend?: () => void;
}

/** A value of a query parameter. A parameter that is undefined is left out. */
export type QueryValue = string | number | boolean | undefined;

/** The name of a request in errors: method and path, never the query. */
export function describe(spec: RequestSpec): string {
  return `${spec.method} ${spec.url.pathname}`;
}

/**
 * Encodes an id so that it stays one segment of a path.
 *
 * @throws {ConfigurationError} if the id is empty, or `.` or `..`, which URLs resolve
 */
export function pathSegment(name: string, id: unknown): string {
  if (typeof id !== 'string' || id === '' || id === '.' || id === '..') {
    throw new ConfigurationError(`${name} must be a non-empty id`);
  }
  if (/\p{Cs}/u.test(id)) throw new ConfigurationError(`${name} is not well-formed text`);
  return encodeURIComponent(id);
}

/** Builds `{base_url}/v1/…?…`. */
export function endpoint(
  baseUrl: URL,
  path: string,
  query: Readonly<Record<string, QueryValue>> = {},
): URL {
  const url = new URL(baseUrl);
  url.pathname = `${baseUrl.pathname.replace(/\/$/, '')}/v1${path}`;
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.append(name, String(value));
  }
  return url;
}
