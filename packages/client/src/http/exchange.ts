import { orAbort, type Deadline } from '../clock.ts';
import { ApiError, ConfigurationError, NetworkError } from '../errors.ts';
import { isSafeTransport, type FetchInit, type Settings } from '../options.ts';
import { createRedact, provesNothingSent, proxyNote, safeCause, type Redact } from './failure.ts';

/** One request to the REST interface, before the token is added. */
export interface RequestSpec {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Called when the request is handed to `fetch`. From then on it may have been sent. */
  readonly onSend?: () => void;
}

/** A value of a query parameter. A parameter that is undefined is left out. */
export type QueryValue = string | number | boolean | undefined;

/** The name of a request in errors: method and path, never the query. */
export function describe(spec: RequestSpec): string {
  return `${spec.method} ${spec.url.pathname}`;
}

/** The error for a 2xx response that cannot be used. */
export function invalidResponse(
  { method, url }: Pick<RequestSpec, 'method' | 'url'>,
  problem: string,
  status = 200,
): ApiError {
  return new ApiError({ method, path: url.pathname, status, code: 'invalid-response', problem });
}

/** Encodes an id so that it stays one segment of a path. URLs resolve `.` and `..`. */
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

const mostRedirects = 5;

/** The response to one attempt. */
export interface ReceivedResponse {
  readonly response: Response;
  /** Keeps the token out of errors about the response. */
  readonly redact: Redact;
  /** Whether the request that was answered carried the token. */
  readonly authenticated: boolean;
}

/**
 * Makes one attempt: reads the token, sends the request, and follows redirects. The token is sent to
 * the configured origin only. After a redirect to another origin it is left out for good, even if a
 * later redirect leads back.
 */
export async function exchange(
  settings: Settings,
  spec: RequestSpec,
  attempt: number,
  deadline: Deadline,
): Promise<ReceivedResponse> {
  const token = await deadline.run('token', settings.readToken);
  let url = spec.url;
  let trusted = url.origin === settings.baseUrl.origin;
  for (let redirects = 0; ; redirects++) {
    const target = url.href;
    const redact = createRedact([token, spec.url.search, url.search]);
    const notice = { method: spec.method, url: target, attempt, redirects, authenticated: trusted };
    await orAbort(Promise.resolve(settings.onRequest?.(notice)), deadline.signal);
    const init = requestInit(settings, spec, trusted ? token : undefined, deadline.signal);
    // Asked after the failure: fetch finds its proxy when it is first called.
    const note = (): string => proxyNote(new URL(target));
    const send = async (): Promise<unknown> => {
      spec.onSend?.();
      return settings.fetch(target, init);
    };
    const answer = await deadline.run('headers', send, note).catch((error: unknown) => {
      if (deadline.signal.aborted) throw error;
      throw new NetworkError(`${describe(spec)}: no response${note()}`, {
        maybeSent: redirects > 0 || !provesNothingSent(error),
        cause: safeCause(error, redact),
      });
    });
    const response = checkedResponse(answer);
    const left = mostRedirects - redirects;
    const next = redirectTarget(response, spec, url, settings, token, left);
    if (next === undefined) return { response, redact, authenticated: trusted };
    discard(response);
    trusted &&= next.origin === settings.baseUrl.origin;
    url = next;
  }
}

function requestInit(
  settings: Settings,
  spec: RequestSpec,
  token: string | undefined,
  signal: AbortSignal,
): FetchInit {
  const headers: Record<string, string> = {
    accept: 'application/json',
    'user-agent': settings.userAgent,
    ...spec.headers,
  };
  if (token !== undefined) headers['x-api-token'] = token;
  const common = { method: spec.method, headers, redirect: 'manual', signal } as const;
  if (spec.body === undefined) return common;
  headers['content-type'] = 'application/json';
  return { ...common, body: JSON.stringify(spec.body) };
}

/** Checks what `fetch` returned: node-fetch, and doubles of tests, return something else. */
function checkedResponse(answer: unknown): Response {
  const problem = problemOf(answer);
  if (problem === undefined) return answer as Response;
  throw new ConfigurationError(
    `fetch returned ${problem}. Pass a fetch that returns a Response as the global one does, or leave out fetch`,
  );
}

function problemOf(answer: unknown): string | undefined {
  if (answer === null || typeof answer !== 'object')
    return `${String(answer)} instead of a Response`;
  const { status, headers, body, bodyUsed } = answer as Partial<Response>;
  if (typeof status !== 'number') return 'an object without a status';
  if (typeof headers?.get !== 'function') return 'a response whose headers have no get()';
  if (body === null) return undefined;
  if (typeof body?.getReader !== 'function') {
    const isNode = typeof Reflect.get(Object(body) as object, 'pipe') === 'function';
    return `a response whose body is ${isNode ? 'a Node stream, as that of node-fetch,' : ''} not a web ReadableStream`;
  }
  return bodyUsed || body.locked ? 'a response whose body has already been read' : undefined;
}

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the target of a redirect, or undefined if the response is not a redirect.
 *
 * @param left how many more redirects may be followed
 * @throws {ApiError} `redirect`, without the target, which may hold signatures or personal data
 */
export function redirectTarget(
  response: Response,
  spec: RequestSpec,
  from: URL,
  settings: Pick<Settings, 'baseUrl' | 'allowInsecure'>,
  token: string,
  left: number,
): URL | undefined {
  const stop = (why: string): ApiError => {
    discard(response);
    const { method, url } = spec;
    const { status } = response;
    const problem = `a redirect was not followed, because ${why}`;
    return new ApiError({ method, path: url.pathname, status, code: 'redirect', problem });
  };
  if (response.type === 'opaqueredirect') throw stop('this runtime hides its target');
  // The token has been sent already, but the user should know.
  if (response.redirected)
    throw stop('the given fetch follows redirects itself, and sends the token along');
  if (!redirectStatuses.has(response.status)) return undefined;
  const location = response.headers.get('location');
  if (location === null) return undefined;
  if (left <= 0) throw stop('there were too many');
  if (!URL.canParse(location, from.href)) throw stop('its target is not a URL');
  const next = new URL(location, from);
  const why = refusal(spec, response.status, next, settings, token);
  if (why !== undefined) throw stop(why);
  return next;
}

function refusal(
  spec: RequestSpec,
  status: number,
  next: URL,
  { baseUrl, allowInsecure }: Pick<Settings, 'baseUrl' | 'allowInsecure'>,
  token: string,
): string | undefined {
  if (spec.method !== 'GET' && (next.origin !== baseUrl.origin || status < 307)) {
    return 'a write is only redirected with status 307 or 308, within the configured origin';
  }
  // A redirect from https to plain http is never followed, not even to loopback.
  const downgrade = baseUrl.protocol === 'https:' && next.protocol !== 'https:';
  if ((downgrade && !allowInsecure) || !isSafeTransport(next, allowInsecure)) {
    return 'its target is not https';
  }
  if (next.username !== '' || next.password !== '') return 'its target holds credentials';
  if ([token, encodeURIComponent(token)].some((form) => next.href.includes(form))) {
    return 'its target holds the API token';
  }
  return undefined;
}

/** Cancels a body that will not be read, to free its connection. */
function discard(response: Response): void {
  void response.body?.cancel().catch(() => undefined);
}
