import { isLoopback } from '../options.ts';

const deepestCause = 4;

/** Removes sensitive texts from a string. */
export type Redact = (text: string) => string;

/** Creates the function for texts such as the token, a secret or a query. Empty texts are skipped. */
export function createRedact(sensitive: readonly string[]): Redact {
  const forms = sensitive
    .filter((value) => value !== '')
    .flatMap((value) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)])
    // Longest first, so that a short form does not leave the rest of a longer one behind.
    .sort((a, b) => b.length - a.length);
  return (text) => forms.reduce((result, form) => result.replaceAll(form, '[hidden]'), text);
}

/** The property of anything that may have some. */
export const property = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;

/**
 * Copies an error so that it is safe to keep as a cause: name, message and code of the error and of
 * its causes, redacted. The original is dropped, because some `fetch` replacements attach the
 * request with its headers, or quote them.
 */
export function safeCause(error: unknown, redact: Redact, depth = 0): Error {
  if (typeof error !== 'object' || error === null) return new Error(redact(String(error)));
  const words = (key: string): string | undefined => {
    const value = property(error, key);
    return typeof value === 'string' ? redact(value) : undefined;
  };
  const cause = property(error, 'cause') ?? property(property(error, 'errors'), '0');
  const nested = cause !== undefined && cause !== null && depth < deepestCause;
  const copy = new Error(
    words('message') ?? 'unknown error',
    nested ? { cause: safeCause(cause, redact, depth + 1) } : undefined,
  );
  const name = words('name') ?? 'Error';
  Object.defineProperty(copy, 'name', { value: name, configurable: true, writable: true });
  copy.stack = `${name}: ${copy.message}`;
  const code = words('code');
  return code === undefined ? copy : Object.assign(copy, { code });
}

// Errors from looking up the name or making the connection.
const beforeSending = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
];
// An established connection can fail with these too, so they count only if `connect` raised them.
const beforeSendingInConnect = ['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EADDRNOTAVAIL'];

/**
 * Whether an error of `fetch` proves that nothing of the request was sent. If several addresses were
 * tried, all of them must have failed that way. An unknown error proves nothing.
 */
export function provesNothingSent(error: unknown, depth = 0): boolean {
  if (depth > deepestCause) return false;
  const errors = property(error, 'errors');
  if (Array.isArray(errors) && errors.length > 0)
    return errors.every((one) => provesNothingSent(one, depth + 1));
  const code = property(error, 'code') as string;
  if (beforeSending.includes(code)) return true;
  if (beforeSendingInConnect.includes(code) && property(error, 'syscall') === 'connect')
    return true;
  const cause = property(error, 'cause');
  return cause !== undefined && provesNothingSent(cause, depth + 1);
}

/**
 * How the proxy variables of the environment affected a request that failed: a sentence to append to
 * its message, or an empty string. By default, Node's fetch ignores these variables.
 */
export function proxyNote(url: URL): string {
  const { protocol, hostname } = url;
  const names = [`${protocol.slice(0, -1)}_proxy`, 'http_proxy'];
  const variable = names
    .flatMap((name) => [name, name.toUpperCase()])
    .find((name) => variableOf(name) !== '');
  if (variable === undefined || isExcepted(hostname)) return '';
  const value = variableOf(variable);
  const proxy = URL.canParse(value) ? new URL(value) : undefined;
  // Without the user and the password that it may hold.
  const shown = proxy?.host ? `${proxy.protocol}//${proxy.host}` : '(not a URL)';
  const named = `. ${variable} names the proxy ${shown}`;
  if (usesProxies())
    return `${named}, which received the request: check that the proxy is running and allows ${hostname}, or add ${hostname} to NO_PROXY`;
  if (isLoopback(url)) return '';
  return `${named}, but Node's fetch ignores it: start Node (22.21, 24 or later) with NODE_USE_ENV_PROXY=1, or pass a fetch that uses it, such as undici's with EnvHttpProxyAgent`;
}

/** Whether `NO_PROXY` lists a host. */
function isExcepted(hostname: string): boolean {
  const list = variableOf('no_proxy') || variableOf('NO_PROXY');
  const entries = list.split(/[\s,]+/).filter((entry) => entry !== '');
  return entries.some((entry) => {
    const domain = entry.replace(/^\*?\.|:\d+$/g, '');
    return domain === '*' || `.${hostname}`.endsWith(`.${domain}`);
  });
}

/** A variable of the environment, or an empty text: Workers have none, and Deno may refuse it. */
function variableOf(name: string): string {
  try {
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- there may be no process
    return globalThis.process?.env[name] ?? '';
  } catch {
    return '';
  }
}

/** Whether the global `fetch` uses proxies: always in Bun and Deno, and by its dispatcher in Node. */
function usesProxies(): boolean {
  if ('Bun' in globalThis || 'Deno' in globalThis) return true;
  return ['undici.globalDispatcher.2', 'undici.globalDispatcher.1'].some((name) => {
    const dispatcher: unknown = Reflect.get(globalThis, Symbol.for(name));
    return dispatcher instanceof Object && /Proxy/.test(dispatcher.constructor.name);
  });
}
