import { ForeignOriginError, InvalidResponseError } from '../errors/index.ts';
import type { Settings } from '../settings.ts';
import { checkedBody, readText } from './body.ts';
import { createDeadline } from './deadline.ts';
import { exchange, type ReceivedResponse } from './exchange.ts';
import { readApiError } from './read-error.ts';
import { describe, type RequestSpec } from './request.ts';
import { withRetries } from './retry.ts';

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
  /** Reads the whole response as JSON. @throws {InvalidResponseError} if it is not JSON */
  json(spec: RequestSpec): Promise<JsonResponse>;
  /** Returns as soon as the headers have arrived. */
  open(spec: RequestSpec): Promise<OpenResponse>;
}

/** Creates the transport of a client. Every method may throw any error of `http-errors.ts`. */
export function createTransport(settings: Settings): Transport {
  async function send<T>(
    spec: RequestSpec,
    read: (body: ReadableStream<Uint8Array>, received: ReceivedResponse) => Promise<T>,
  ): Promise<T> {
    // A second check: no caller of this module passes another origin.
    if (spec.url.origin !== settings.baseUrl.origin) {
      throw new ForeignOriginError('the URL is not of the configured origin', spec.url.origin);
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
        if (!received.response.ok) throw await readApiError(settings, spec, received, deadline);
        return await read(checkedBody(received, deadline, describe(spec)), received);
      } catch (error) {
        deadline.close();
        throw error;
      }
    });
  }
  const readAll = (body: ReadableStream<Uint8Array>, spec: RequestSpec): Promise<string> =>
    readText(body, settings.bodyLimit, describe(spec));
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
        throw new InvalidResponseError(`${describe(spec)}: the response is not JSON`);
      }
    },
    open: (spec) => send(spec, (body, { response }) => Promise.resolve({ response, body })),
  };
}
