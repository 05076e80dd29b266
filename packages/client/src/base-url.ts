import { ConfigurationError } from './errors/index.ts';

/**
 * Whether the host of a URL is this machine: `localhost`, 127.0.0.0/8 or `[::1]`. Names such as
 * `app.localhost` do not count, because some resolvers look them up in the network.
 */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  if (host === 'localhost' || host === '[::1]') return true;
  // The URL parser has turned 127.1 and 0x7f000001 into four decimal parts already.
  return /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whether data may be sent to a URL: https, or plain http to loopback or if it was allowed. */
export function isSafeTransport(url: URL, allowInsecure: boolean): boolean {
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && (allowInsecure || isLoopback(url));
}

/**
 * Parses the configured base URL and removes trailing slashes, and `/v1`, which each endpoint adds.
 *
 * @throws {ConfigurationError} if it is not an absolute http(s) URL, if it has credentials, a query
 * or a fragment, or if the token would be sent over plain http
 */
export function parseBaseUrl(baseUrl: string | URL, allowInsecure: boolean): URL {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new ConfigurationError(
      'baseUrl must be an absolute URL, such as https://api.example.com',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigurationError('baseUrl must not hold credentials');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new ConfigurationError('baseUrl must not have a query or a fragment');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ConfigurationError('baseUrl must be an https URL');
  }
  if (!isSafeTransport(url, allowInsecure)) {
    throw new ConfigurationError(
      'baseUrl is plain http, which exposes the API token to the network. Use https, or set allowInsecure: true',
    );
  }
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return url;
}
