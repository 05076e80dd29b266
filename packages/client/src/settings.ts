import { systemClock, type Clock } from './clock.ts';
import { parseBaseUrl } from './base-url.ts';
import { ConfigurationError } from './errors/index.ts';
import type { ClientOptions, Fetch, RetryOptions } from './options.ts';
import { defaultWireNames, type WireNames } from './wire.ts';

/** The checked options, with defaults filled in. */
export interface Settings {
  readonly baseUrl: URL;
  readonly allowInsecure: boolean;
  readonly readToken: () => Promise<string>;
  readonly fetch: Fetch;
  readonly timeout: number;
  readonly retry: Required<RetryOptions>;
  readonly maxRedirects: number;
  readonly bodyLimit: number;
  readonly userAgent: string;
  readonly onRequest: ClientOptions['onRequest'];
  readonly wire: WireNames;
  readonly clock: Clock;
  readonly random: () => number;
}

/** The version of this package, as in the default user agent. */
export const version = '0.1.0';

// The longest delay that setTimeout supports. A longer one would fire at once.
const longestTimer = 2_147_483_647;

function whole(name: string, value: number, minimum: number, maximum = longestTimer): number {
  if (Number.isInteger(value) && value >= minimum && value <= maximum) return value;
  throw new ConfigurationError(`${name} must be a whole number from ${minimum} to ${maximum}`);
}

function resolveRetry(retries: ClientOptions['retries']): Required<RetryOptions> {
  const given = typeof retries === 'number' ? { limit: retries } : (retries ?? {});
  return {
    limit: whole('retries.limit', given.limit ?? 3, 0, 100),
    baseDelay: whole('retries.baseDelay', given.baseDelay ?? 500, 0),
    maxDelay: whole('retries.maxDelay', given.maxDelay ?? 20_000, 0),
    maxRetryAfter: whole('retries.maxRetryAfter', given.maxRetryAfter ?? 60_000, 0),
  };
}

// The error of fetch for an invalid header quotes the token, so an invalid token is refused here.
function checkToken(token: unknown): string {
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new ConfigurationError('apiToken must be a non-empty string of visible ASCII characters');
}

function tokenReader(apiToken: ClientOptions['apiToken']): () => Promise<string> {
  if (typeof apiToken === 'function') return async () => checkToken(await apiToken());
  const token = checkToken(apiToken);
  return () => Promise.resolve(token);
}

function resolveWire(names: Partial<WireNames> | undefined): WireNames {
  const given = Object.entries(names ?? {}).filter(([, value]) => value !== undefined);
  return { ...defaultWireNames, ...Object.fromEntries(given) };
}

function checkUserAgent(value: string): string {
  if (/^[\x20-\x7e]+$/.test(value)) return value;
  throw new ConfigurationError('userAgent must be a non-empty line of ASCII text');
}

/**
 * Checks the options and fills in the defaults.
 *
 * @throws {ConfigurationError} if an option is invalid, with the reason
 */
export function resolveSettings(options: ClientOptions): Settings {
  const allowInsecure = options.allowInsecure ?? false;
  return {
    baseUrl: parseBaseUrl(options.baseUrl, allowInsecure),
    allowInsecure,
    readToken: tokenReader(options.apiToken),
    // Looked up for each call, and called without a receiver, as browsers and Workers require.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeout: whole('timeout', options.timeout ?? 30_000, 1),
    retry: resolveRetry(options.retries),
    maxRedirects: whole('maxRedirects', options.maxRedirects ?? 5, 0, 20),
    bodyLimit: whole('bodyLimit', options.bodyLimit ?? 33_554_432, 1),
    userAgent: checkUserAgent(options.userAgent ?? `call-webhooks-client/${version}`),
    onRequest: options.onRequest,
    wire: resolveWire(options.wire),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
}
