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

/** The most that a body may have; bytes. */
export const MAX_BODY = 128 * 1024;

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
