import { RequestError } from './answer.ts';
import type { ConsoleRequest } from './request.ts';

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
    throw new RequestError('unsupported-type', 'Send application/json.');
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
