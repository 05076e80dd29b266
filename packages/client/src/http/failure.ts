import { isLoopback } from '../options.ts';

const hidden = '[hidden]';
const deepestValue = 100;
const deepestCause = 4;

/** Removes sensitive texts from a string, or from all strings of a JSON value. */
export interface Redactor {
  text(value: string): string;
  /** Values nested more than 100 levels deep are removed as a whole. */
  json(value: unknown): unknown;
}

/** Creates a redactor for texts such as the token, a secret or a query. Empty texts are skipped. */
export function createRedactor(sensitive: readonly string[]): Redactor {
  const forms = new Set<string>();
  for (const value of sensitive) {
    if (value === '') continue;
    forms.add(value).add(encodeURIComponent(value)).add(JSON.stringify(value).slice(1, -1));
  }
  // Longest first, so that a short form does not leave the rest of a longer one behind.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  const text = (value: string): string =>
    ordered.reduce((result, form) => result.replaceAll(form, hidden), value);
  const json = (value: unknown, depth = 0): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'object' || value === null) return value;
    // Unlimited recursion would overflow the stack.
    if (depth === deepestValue) return hidden;
    const clean = (item: unknown): unknown => json(item, depth + 1);
    if (Array.isArray(value)) return value.map(clean);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), clean(item)]));
  };
  return { text, json: (value) => json(value) };
}

/**
 * Copies an error so that it is safe to keep as a cause: name, message and code of the error and of
 * its causes, redacted. The original is dropped, because some `fetch` replacements attach the
 * request with its headers, or quote them.
 */
export function safeCause(error: unknown, redactor: Redactor, depth = 0): Error {
  if (typeof error !== 'object' || error === null) {
    return new Error(redactor.text(String(error)));
  }
  const read = (key: string): unknown => Reflect.get(error, key);
  const words = (key: string): string | undefined => {
    const value = read(key);
    return typeof value === 'string' ? redactor.text(value) : undefined;
  };
  const causes = [
    read('cause'),
    ...(Array.isArray(read('errors')) ? (read('errors') as unknown[]) : []),
  ];
  const cause = causes.find((value) => value !== undefined && value !== null);
  const nested = cause !== undefined && depth < deepestCause;
  const copy = new Error(
    words('message') ?? 'unknown error',
    nested ? { cause: safeCause(cause, redactor, depth + 1) } : undefined,
  );
  const name = words('name') ?? 'Error';
  Object.defineProperty(copy, 'name', { value: name, configurable: true, writable: true });
  copy.stack = `${name}: ${copy.message}`;
  const code = words('code');
  return code === undefined ? copy : Object.assign(copy, { code });
}

// Errors from looking up the name or making the connection.
const beforeSending = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
]);
// An established connection can fail with these too, so they count only if `connect` raised them.
const beforeSendingInConnect = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
]);

/**
 * Whether an error of `fetch` proves that nothing of the request was sent. If several addresses were
 * tried, all of them must have failed that way. An unknown error proves nothing.
 */
export function provesNothingSent(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 4) return false;
  const errors: unknown = Reflect.get(error, 'errors');
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.every((one) => provesNothingSent(one, depth + 1));
  }
  return isBeforeSending(error) || provesNothingSent(Reflect.get(error, 'cause'), depth + 1);
}

function isBeforeSending(error: object): boolean {
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code !== 'string') return false;
  if (beforeSending.has(code)) return true;
  return beforeSendingInConnect.has(code) && Reflect.get(error, 'syscall') === 'connect';
}

/**
 * What the proxy variables of the environment have to do with a request that failed: a sentence to
 * append to its message, or an empty text. Node's fetch ignores the variables unless it is told not to.
 *
 * @param ownFetch whether the user gave the `fetch`
 */
export function proxyNote(url: URL, ownFetch: boolean): string {
  const proxy = proxyFor(url);
  if (proxy === undefined) return '';
  const named = `. ${proxy.variable} names the proxy ${proxy.shown}`;
  if (ownFetch) return `${named}: the given fetch has to use it`;
  const local = isLoopback(url);
  if (!usesProxies()) {
    if (local) return '';
    return `${named}, but fetch ignores it: start Node (22.21, 24 or later) with NODE_USE_ENV_PROXY=1, or pass a fetch that uses it, such as undici's with EnvHttpProxyAgent`;
  }
  if (local) return `${named}, which got the request. Add ${url.hostname} to NO_PROXY`;
  return `${named}, which got the request: check that it runs and lets ${url.hostname} through`;
}

/** The proxy for a URL, by the variables that curl, undici, Bun and Deno know. */
function proxyFor(url: URL): { variable: string; shown: string } | undefined {
  const scheme = url.protocol.slice(0, -1);
  const variable = [scheme, 'http']
    .flatMap((name) => [`${name}_proxy`, `${name.toUpperCase()}_PROXY`])
    .find((name) => variableOf(name) !== '');
  if (variable === undefined || isExcepted(url)) return undefined;
  const value = variableOf(variable);
  const { protocol, host } = URL.canParse(value) ? new URL(value) : { protocol: '', host: '' };
  // Without the user and the password that it may hold.
  return { variable, shown: host === '' ? '(not a URL)' : `${protocol}//${host}` };
}

/** Whether `NO_PROXY` lists the host of a URL. */
function isExcepted({ hostname, port, protocol }: URL): boolean {
  const withPort = `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
  const list = variableOf('no_proxy') || variableOf('NO_PROXY');
  return list.split(/[\s,]+/).some((entry) => {
    if (entry === '*' || entry === hostname || entry === withPort) return true;
    const domain = entry.replace(/^\*?\.?/, '.');
    return domain !== '.' && (hostname.endsWith(domain) || withPort.endsWith(domain));
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
