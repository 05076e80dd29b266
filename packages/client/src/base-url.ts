import { ConfigurationError } from './errors/index.ts';

/**
 * Whether a URL's host is this machine: `localhost`, 127.0.0.0/8 or `[::1]`. Not `*.localhost`: some
 * resolvers ask the network for such names, and send the token to whoever answers.
 */
export function isLoopback(url: URL): boolean {
  const host = url.hostname;
  if (host === 'localhost' || host === '[::1]') return true;
  // The URL parser has already turned 127.1 and 0x7f000001 into four decimal parts.
  return /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whether data may travel to a URL: https, or http to loopback or where plain http was allowed. */
export function isSafeTransport(url: URL, allowInsecure: boolean): boolean {
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && (allowInsecure || isLoopback(url));
}

/**
 * Reads the configured base URL, without its trailing slash.
 *
 * @throws {ConfigurationError} when it is no absolute http(s) URL, has credentials, a query or a
 * fragment, or would send the token over plain http
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
      'baseUrl is plain http, which would show the API token on the way. Use https, or set allowInsecure: true',
    );
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}
