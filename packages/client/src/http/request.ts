import { ConfigurationError } from '../errors/index.ts';

/** One call of the REST interface, before the token is added. */
export interface RequestSpec {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Called when a request is handed to `fetch`: from here on it may have been sent. */
  readonly onSend?: () => void;
}

/** The values that a query parameter may have; undefined leaves it out. */
export type QueryValue = string | number | boolean | undefined;

/** How errors name a request: its method and path, never its query. */
export function describe(spec: RequestSpec): string {
  return `${spec.method} ${spec.url.pathname}`;
}

/**
 * A path segment that stays one segment.
 *
 * @throws {ConfigurationError} for an empty id, and for `.` and `..`, which URLs resolve away
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
