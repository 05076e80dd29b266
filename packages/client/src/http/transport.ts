import { ForeignOriginError, InvalidResponseError } from '../errors/index.ts';
import type { Settings } from '../settings.ts';
import { readText, watchedBody } from './body.ts';
import { createDeadline } from './deadline.ts';
import { exchange, type Answer } from './exchange.ts';
import { apiError } from './failure.ts';
import { describe, type RequestSpec } from './request.ts';
import { withRetries } from './retry.ts';

/** A 2xx answer whose body has not been read yet. */
export interface OpenResponse {
  readonly response: Response;
  /** The body, watched: see `watchedBody`. */
  readonly body: ReadableStream<Uint8Array>;
}

/** Sends requests to the configured origin, with retries, redirects and limits. */
export interface Transport {
  /** Reads the whole answer as text. */
  text(spec: RequestSpec): Promise<string>;
  /** Reads the whole answer as JSON. @throws {InvalidResponseError} when it is not */
  json(spec: RequestSpec): Promise<unknown>;
  /** Returns as soon as the headers are there. */
  open(spec: RequestSpec): Promise<OpenResponse>;
}

/** Makes the transport of a client. Every method may throw any of the http errors of `errors/`. */
export function createTransport(settings: Settings): Transport {
  async function send<T>(
    spec: RequestSpec,
    read: (body: ReadableStream<Uint8Array>, answer: Answer) => Promise<T>,
  ): Promise<T> {
    // The last line of defence: no caller of this module passes another origin.
    if (spec.url.origin !== settings.baseUrl.origin) {
      throw new ForeignOriginError('the URL is not of the configured origin', spec.url.origin);
    }
    return withRetries(settings, spec.method, spec.signal, async (attempt) => {
      const request = describe(spec);
      const deadline = createDeadline(settings.clock, settings.timeout, request, spec.signal);
      try {
        const answer = await exchange(settings, spec, attempt, deadline);
        if (!answer.response.ok) throw await apiError(settings, spec, answer, deadline);
        return await read(watchedBody(answer, deadline, request), answer);
      } catch (error) {
        deadline.close();
        throw error;
      }
    });
  }
  const text = (spec: RequestSpec): Promise<string> =>
    send(spec, (body) => readText(body, settings.bodyLimit, describe(spec)));
  return {
    text,
    async json(spec) {
      const answer = await text(spec);
      try {
        return JSON.parse(answer) as unknown;
      } catch {
        // The parser's own message quotes the answer, so it is not kept.
        throw new InvalidResponseError(`${describe(spec)}: the answer is not JSON`);
      }
    },
    open: (spec) => send(spec, (body, { response }) => Promise.resolve({ response, body })),
  };
}
