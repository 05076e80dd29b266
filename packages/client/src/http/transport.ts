import { createDeadline, sleep, type Deadline } from '../clock.ts';
import { ApiError, ConfigurationError, NetworkError, TimeoutError } from '../errors.ts';
import type { Settings } from '../options.ts';
import { checkedBody, readText } from './body.ts';
import { describe, exchange, type ReceivedResponse, type RequestSpec } from './exchange.ts';

const longestBody = 33_554_432;
const longestErrorBody = 65_536;

/** A 2xx response whose body has not been read yet. */
export interface OpenResponse {
  readonly response: Response;
  /** The body, see `checkedBody`. */
  readonly body: ReadableStream<Uint8Array>;
}

/** A 2xx response that was read. */
export interface TextResponse {
  readonly text: string;
  readonly headers: Headers;
}

/** Sends requests to the configured origin, with retries, redirects and limits. */
export interface Transport {
  /** Reads the whole response. */
  read(spec: RequestSpec): Promise<TextResponse>;
  /** Returns as soon as the headers have arrived. */
  open(spec: RequestSpec): Promise<OpenResponse>;
}

/** Creates the transport of a client. Its methods may throw what `exchange` does. */
export function createTransport(settings: Settings): Transport {
  async function send<T>(
    spec: RequestSpec,
    use: (body: ReadableStream<Uint8Array>, response: Response) => T | Promise<T>,
  ): Promise<T> {
    // A second check: no caller of this module passes another origin.
    if (spec.url.origin !== settings.baseUrl.origin) {
      throw new ConfigurationError('the URL is not of the configured origin', 'foreign-origin');
    }
    const { clock, timeout } = settings;
    return withRetries(settings, spec.method, spec.signal, async (attempt) => {
      const deadline = createDeadline(clock, timeout, describe(spec), spec.signal);
      try {
        const received = await exchange(settings, spec, attempt, deadline);
        const { response } = received;
        if (response.status < 200 || response.status > 299)
          throw await readApiError(settings, spec, received, deadline);
        return await use(checkedBody(received, deadline, spec), response);
      } catch (error) {
        deadline.close();
        throw error;
      }
    });
  }
  return {
    read: (spec) =>
      send(spec, async (body, { headers }) => ({
        text: await readText(body, longestBody, spec),
        headers,
      })),
    open: (spec) => send(spec, (body, response) => ({ response, body })),
  };
}

/** The backoff before retry number `retry` (from 1), in ms: doubling, capped, half of it random. */
export function backoff(settings: Pick<Settings, 'retry'>, retry: number): number {
  const { baseDelay, maxDelay } = settings.retry;
  const ceiling = Math.min(maxDelay, baseDelay * 2 ** (retry - 1));
  return Math.round(ceiling * (0.5 + Math.random() / 2));
}

/** Whether an error is a broken or silent connection, so that sending a GET again may help. */
export function isConnectionError(error: unknown): boolean {
  return error instanceof NetworkError || (error instanceof TimeoutError && error.maybeSent);
}

/** Tries until an attempt succeeds, fails for good, or was the last one. Then its error is thrown. */
export async function withRetries<T>(
  settings: Settings,
  method: string,
  signal: AbortSignal | undefined,
  attempt: (number: number) => Promise<T>,
): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      if (signal?.aborted || number > settings.retry.limit) throw error;
      const delay = delayBefore(error, method, settings, number);
      if (delay === undefined) throw error;
      await sleep(settings.clock, delay, signal);
    }
  }
}

/** The pause before a retry, in ms. Undefined if the error must not, or cannot, be retried. */
function delayBefore(
  error: unknown,
  method: string,
  settings: Settings,
  retry: number,
): number | undefined {
  if (method !== 'GET') {
    const unsent = error instanceof NetworkError && !error.maybeSent;
    return unsent ? backoff(settings, retry) : undefined;
  }
  if (isConnectionError(error)) return backoff(settings, retry);
  if (!(error instanceof ApiError) || (error.status !== 429 && error.status < 500))
    return undefined;
  const { retryAfter } = error;
  if (retryAfter === undefined) return backoff(settings, retry);
  const asked = retryAfter * 1000;
  if (asked > settings.retry.maxRetryAfter) return undefined;
  // Never sooner than asked. The jitter keeps many clients from returning at once.
  return asked + Math.round(Math.random() * settings.retry.baseDelay);
}

/**
 * Reads a `Retry-After` header: a number of seconds or an HTTP date.
 *
 * @param now the wall clock, in epoch milliseconds
 * @returns whole seconds from now, rounded up, at least 0; undefined if the header is neither form
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d+$/.test(value)) return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
  // Date.parse also accepts texts such as "1.5". An HTTP date starts with the day of the week.
  const date = /^[A-Za-z]{3,9},? /.test(value) ? Date.parse(inUtc(value)) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

/** `Sun Nov  6 08:49:37 1994` is an HTTP date too, and in UTC (RFC 9110); Date.parse would take it as local. */
const inUtc = (date: string): string => (/ \d{4}$/.test(date) ? `${date} GMT` : date);

/** Turns a response that is not 2xx into an ApiError, with its body if that can be read. */
export async function readApiError(
  settings: Settings,
  spec: RequestSpec,
  received: ReceivedResponse,
  deadline: Deadline,
): Promise<ApiError> {
  const { response, redact } = received;
  const stream = checkedBody(received, deadline, spec);
  // The whole body gets the time of one wait: a slow body must not hold back the status, which says
  // more. An abort by the caller still counts.
  const text = await deadline
    .run('body', () => readText(stream, longestErrorBody, spec))
    .catch((error: unknown) => {
      if (spec.signal?.aborted) throw error;
      return '';
    });
  const requestId = response.headers.get(settings.wire.requestIdHeader);
  return new ApiError({
    method: spec.method,
    path: spec.url.pathname,
    status: response.status,
    problem: problemOf(received),
    requestId: requestId === null ? undefined : redact(requestId),
    retryAfter: parseRetryAfter(response.headers.get('retry-after'), settings.clock.now()),
    body: text === '' ? undefined : parse(redact(text), redact),
  });
}

/** What a status says about this side. */
function problemOf({ response, authenticated }: ReceivedResponse): string | undefined {
  if (response.status !== 401) return undefined;
  return authenticated
    ? 'the API token (the option apiToken) is wrong, or is no longer valid'
    : 'a redirect led to another origin, which does not get the API token';
}

/** Parses JSON, and redacts what was escaped in it. What cannot be parsed stays a text. */
function parse(text: string, redact: (text: string) => string): unknown {
  try {
    return JSON.parse(text, (_, value: unknown) =>
      typeof value === 'string' ? redact(value) : value,
    );
  } catch {
    return text;
  }
}
