import { createDeadline, sleep, type Deadline } from '../clock.ts';
import { ApiError, ConfigurationError, NetworkError, TimeoutError } from '../errors.ts';
import type { Settings } from '../options.ts';
import { checkedBody, readText } from './body.ts';
import {
  describe,
  exchange,
  invalidResponse,
  type ReceivedResponse,
  type RequestSpec,
} from './exchange.ts';

/** A 2xx response whose body has not been read yet. */
export interface OpenResponse {
  readonly response: Response;
  /** The body, see `checkedBody`. */
  readonly body: ReadableStream<Uint8Array>;
}

/** A 2xx response that was read as JSON. */
export interface JsonResponse {
  readonly value: unknown;
  readonly headers: Headers;
}

/** Sends requests to the configured origin, with retries, redirects and limits. */
export interface Transport {
  /** Reads the whole response as text. */
  text(spec: RequestSpec): Promise<string>;
  /** Reads the whole response as JSON. @throws {ApiError} `invalid-response` if it is not JSON */
  json(spec: RequestSpec): Promise<JsonResponse>;
  /** Returns as soon as the headers have arrived. */
  open(spec: RequestSpec): Promise<OpenResponse>;
}

/** Creates the transport of a client. Every method may throw what `exchange` does. */
export function createTransport(settings: Settings): Transport {
  async function send<T>(
    spec: RequestSpec,
    read: (body: ReadableStream<Uint8Array>, received: ReceivedResponse) => Promise<T>,
  ): Promise<T> {
    // A second check: no caller of this module passes another origin.
    if (spec.url.origin !== settings.baseUrl.origin) {
      throw new ConfigurationError('the URL is not of the configured origin', 'foreign-origin');
    }
    return withRetries(settings, spec.method, spec.signal, async (attempt) => {
      const deadline = createDeadline(
        settings.clock,
        settings.timeout,
        describe(spec),
        spec.signal,
      );
      try {
        const received = await exchange(settings, spec, attempt, deadline);
        const { status } = received.response;
        if (status < 200 || status > 299)
          throw await readApiError(settings, spec, received, deadline);
        return await read(checkedBody(received, deadline, spec), received);
      } catch (error) {
        deadline.close();
        throw error;
      }
    });
  }
  const readAll = (body: ReadableStream<Uint8Array>, spec: RequestSpec): Promise<string> =>
    readText(body, settings.bodyLimit, spec);
  return {
    text: (spec) => send(spec, (body) => readAll(body, spec)),
    async json(spec) {
      const { text, headers } = await send(spec, async (body, { response }) => ({
        text: await readAll(body, spec),
        headers: response.headers,
      }));
      try {
        return { value: JSON.parse(text) as unknown, headers };
      } catch {
        // The parser's own message quotes the response, so it is dropped.
        throw invalidResponse(spec, 'the response is not JSON');
      }
    },
    open: (spec) => send(spec, (body, { response }) => Promise.resolve({ response, body })),
  };
}

/** The backoff before retry number `retry` (from 1), in ms: doubling, capped, half of it random. */
export function backoff(settings: Pick<Settings, 'retry' | 'random'>, retry: number): number {
  const { baseDelay, maxDelay } = settings.retry;
  const ceiling = Math.min(maxDelay, baseDelay * 2 ** (retry - 1));
  return Math.round(ceiling * (0.5 + settings.random() / 2));
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
      const delay = signal?.aborted ? undefined : delayBefore(error, method, settings, number);
      if (delay === undefined) throw error;
      await sleep(settings.clock, delay, signal);
    }
  }
}

function delayBefore(
  error: unknown,
  method: string,
  settings: Settings,
  retry: number,
): number | undefined {
  if (retry > settings.retry.limit) return undefined;
  if (method !== 'GET') {
    const unsent = error instanceof NetworkError && !error.maybeSent;
    return unsent ? backoff(settings, retry) : undefined;
  }
  if (error instanceof ApiError) return delayAfterStatus(error, settings, retry);
  return isConnectionError(error) ? backoff(settings, retry) : undefined;
}

// Never sooner than Retry-After asks. The jitter keeps many clients from returning at once.
function delayAfterStatus(error: ApiError, settings: Settings, retry: number): number | undefined {
  if (error.status !== 429 && error.status < 500) return undefined;
  if (error.retryAfter === undefined) return backoff(settings, retry);
  const asked = error.retryAfter * 1000;
  if (asked > settings.retry.maxRetryAfter) return undefined;
  return asked + Math.round(settings.random() * settings.retry.baseDelay);
}

/**
 * Reads a `Retry-After` header: a number of seconds or an HTTP date.
 *
 * @param now the wall clock, in epoch milliseconds
 * @returns whole seconds from now, rounded up, at least 0; undefined if the header is neither form
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const value = header.trim();
  if (/^\d{1,10}$/.test(value)) return Number(value);
  // Date.parse also accepts texts such as "1.5". An HTTP date starts with the day of the week.
  if (!/^[A-Za-z]{3,9},? /.test(value)) return undefined;
  // The oldest of the three date forms has no time zone, and would be read as local time.
  const date = Date.parse(/\d{4}$/.test(value) ? `${value} GMT` : value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

const longestErrorBody = 65_536;

/** Turns a response that is not 2xx into an ApiError, with its body if that can be read. */
export async function readApiError(
  settings: Settings,
  spec: RequestSpec,
  received: ReceivedResponse,
  deadline: Deadline,
): Promise<ApiError> {
  const { response, redactor } = received;
  const stream = checkedBody(received, deadline, spec);
  // The whole body gets the time of one wait: a slow body must not hold back the status, which says
  // more. An abort by the caller still counts.
  const text = await deadline
    .run('body', () => readText(stream, longestErrorBody, spec))
    .catch((error: unknown) => {
      if (spec.signal?.aborted) throw error;
      return '';
    });
  const body = redactor.json(parse(text));
  const requestId = response.headers.get(settings.wire.requestIdHeader);
  return new ApiError({
    method: spec.method,
    path: spec.url.pathname,
    status: response.status,
    problem: problemOf(received),
    serviceCode: serviceCode(body),
    requestId: requestId === null ? undefined : redactor.text(requestId),
    retryAfter: parseRetryAfter(response.headers.get('retry-after'), settings.clock.now()),
    body,
  });
}

/** What a status says about this side. */
function problemOf({ response, authenticated }: ReceivedResponse): string | undefined {
  if (response.status !== 401) return undefined;
  return authenticated
    ? 'the API token (the option apiToken) is wrong, or is no longer valid'
    : 'a redirect led to another origin, which does not get the API token';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text === '' ? undefined : text;
  }
}

function serviceCode(body: unknown): string | undefined {
  const error = field(body, 'error');
  return shortWord(field(body, 'code')) ?? shortWord(field(error, 'code')) ?? shortWord(error);
}

// Codes are short words. A sentence might name people.
function shortWord(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z][\w.:-]{0,63}$/.test(value) ? value : undefined;
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
