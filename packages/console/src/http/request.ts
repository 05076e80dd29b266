import { RequestError } from './answer.ts';

/** What `authorize` decides on. */
export interface ConsoleRequest<Raw = unknown> {
  readonly method: string;
  /** Below the mount, as it was sent; `'/'` for the page. */
  readonly path: string;
  readonly headers: Headers;
  /**
   * The request of the framework: that of Express, of Fastify, or fetch's `Request`. Sessions and users
   * of other middleware are on it.
   */
  readonly raw: Raw;
}

/** A request as every mount passes it on. */
export interface MountedRequest extends ConsoleRequest {
  readonly query: URLSearchParams;
  /** The path in the browser's address, to find out where relative URLs lead. */
  readonly documentPath: string;
  /**
   * Reads the JSON body.
   * @throws RequestError if it is too large, too slow, or no JSON
   */
  body(): Promise<unknown>;
}

/** Splits the URL of a request as it was sent: nothing is decoded or resolved. */
export function splitUrl(url: string): { path: string; query: URLSearchParams } {
  const [beforeHash = ''] = url.split('#', 1);
  const at = beforeHash.indexOf('?');
  if (at < 0) return { path: beforeHash, query: new URLSearchParams() };
  return { path: beforeHash.slice(0, at), query: new URLSearchParams(beforeHash.slice(at)) };
}

/**
 * The path below the mount.
 * @param mount such as `'/ops/webhooks'`, without a slash at its end
 * @returns `undefined` if the path is elsewhere
 */
export function pathBelow(mount: string, path: string): string | undefined {
  if (path === mount) return '/';
  return path.startsWith(`${mount}/`) ? path.slice(mount.length) : undefined;
}

/**
 * Lets a change through only from the console's own page, in JSON, which no form of another site can
 * send. `Sec-Fetch-Site` tells where a request is from, and no page can forge it; a browser that does
 * not send it says in `Origin` which host the page is from.
 * @param origin where the console is, if a proxy changes the `Host` of requests
 * @throws RequestError `cross-origin`, `unsupported-type`
 */
export function checkChange({ headers }: ConsoleRequest, origin: string | undefined): void {
  const site = headers.get('sec-fetch-site');
  const from = headers.get('origin');
  if (from === null || (site !== null && site !== 'same-origin')) throw crossOrigin();
  if (origin !== undefined) {
    if (from !== origin) throw crossOrigin();
  } else if (site === null && hostOf(from) !== headers.get('host')?.toLowerCase())
    throw crossOrigin();
  if (!/^application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? ''))
    throw new RequestError(
      'unsupported-type',
      'The content type is not supported. Send application/json.',
    );
}

/**
 * Refuses data to pages of other sites. A browser that opens the console's address itself sends `none`.
 * @throws RequestError `cross-origin`
 */
export function checkRead({ headers }: ConsoleRequest): void {
  const site = headers.get('sec-fetch-site');
  if (site === 'cross-site' || site === 'same-site') throw crossOrigin();
}

const hostOf = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host || undefined : undefined;

const crossOrigin = () =>
  new RequestError(
    'cross-origin',
    "The request does not come from the console's page. If a proxy changes the Host header, set the option origin.",
  );
