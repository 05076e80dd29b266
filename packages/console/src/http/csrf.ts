import { createHmac, timingSafeEqual } from 'node:crypto';
import { CSRF_HEADER } from '../api-types.ts';
import { RequestError } from './answer.ts';
import type { ConsoleRequest } from './console-request.ts';

/** How long a token is valid; milliseconds. */
const VALID_MS = 12 * 3_600_000;
const TOKEN = /^([0-9a-z]{1,11})\.([\w-]{43})$/;

/** Tokens that only the page of this console can know. Each is for one person, for 12 hours. */
export class CsrfTokens {
  readonly #key: string | Uint8Array;
  readonly #now: () => number;

  constructor(key: string | Uint8Array, now: () => number) {
    this.#key = key;
    this.#now = now;
  }

  issue(name: string | null): string {
    const until = (this.#now() + VALID_MS).toString(36);
    return `${until}.${this.#sign(name, until)}`;
  }

  /** @throws RequestError `csrf-token` */
  check(name: string | null, headers: Headers): void {
    const [, until = '', signature = ''] = TOKEN.exec(headers.get(CSRF_HEADER) ?? '') ?? [];
    const expected = this.#sign(name, until);
    const isRight =
      signature.length === expected.length &&
      timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
    if (!isRight || parseInt(until, 36) <= this.#now())
      throw new RequestError(
        'csrf-token',
        'The token is missing, wrong or too old. Load the page again.',
      );
  }

  #sign(name: string | null, until: string): string {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify(['call-webhooks console', name, until]))
      .digest('base64url');
  }
}

/**
 * Lets through what the console's own page sends. `Sec-Fetch-Site` tells, which no page can forge;
 * browsers that do not send it say in `Origin` which host the page is from.
 * @param origin where the console is, if a proxy changes the `Host` of requests
 * @throws RequestError `cross-origin`
 */
export function checkSameOrigin({ headers }: ConsoleRequest, origin: string | undefined): void {
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin') throw crossOrigin();
  const from = headers.get('origin');
  if (from === null) throw crossOrigin();
  if (origin !== undefined) {
    if (from !== origin) throw crossOrigin();
  } else if (site === null && hostOf(from) !== headers.get('host')?.toLowerCase())
    throw crossOrigin();
}

/**
 * Refuses data to pages of other sites. A browser that opens the console's address itself sends `none`.
 * @throws RequestError `cross-origin`
 */
export function checkReader({ headers }: ConsoleRequest): void {
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
