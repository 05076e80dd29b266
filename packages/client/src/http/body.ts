import type { Deadline } from '../clock.ts';
import { ConfigurationError, NetworkError } from '../errors.ts';
import { describe, invalidResponse, type ReceivedResponse, type RequestSpec } from './exchange.ts';
import { safeCause } from './failure.ts';

/** The length that a body must have, in bytes. Undefined if it is unknown or compressed. */
export function expectedLength(response: Response): number | undefined {
  const encoding = response.headers.get('content-encoding');
  if (encoding !== null && encoding !== 'identity') return undefined;
  const length = response.headers.get('content-length');
  return length !== null && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

const begun = new WeakSet<ReadableStream<Uint8Array>>();

/** Whether anybody has started to read a checked body, even if the reader has released it again. */
export function hasBegun(body: ReadableStream<Uint8Array>): boolean {
  return body.locked || begun.has(body);
}

/**
 * A response body with checks: every wait for more bytes is limited by the deadline, and a broken
 * connection or a length other than the announced one is a NetworkError. Nothing is read ahead.
 */
export function checkedBody(
  { response, redactor }: Pick<ReceivedResponse, 'response' | 'redactor'>,
  deadline: Deadline,
  spec: RequestSpec,
): ReadableStream<Uint8Array> {
  const request = describe(spec);
  const expected = expectedLength(response);
  const reader = response.body?.getReader();
  const { signal } = deadline;
  // Not awaited: if the body hangs, cancel may hang too.
  const cancel = (reason?: unknown): void => void reader?.cancel(reason).catch(() => undefined);
  // Node's fetch may lose its signal when the Request is collected, and nobody may be reading.
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', () => cancel(), { once: true });
  let count = 0;
  const wrongLength = (): NetworkError =>
    new NetworkError(
      `${request}: the response has ${count} bytes where ${expected} were announced`,
      { maybeSent: true },
    );
  async function read(): Promise<unknown> {
    if (reader === undefined) return undefined;
    try {
      const { done, value } = (await deadline.run('body', () => reader.read())) as {
        done: boolean;
        value?: unknown;
      };
      // After an abort the pending read ends as if the body were complete.
      signal.throwIfAborted();
      return done ? undefined : value;
    } catch (error) {
      if (signal.aborted) throw error;
      throw new NetworkError(
        `${request}: the connection broke after ${count} bytes of the response`,
        { maybeSent: true, cause: safeCause(error, redactor) },
      );
    }
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        begun.add(body);
        try {
          const piece = await read();
          if (piece !== undefined) {
            if (!isBytes(piece))
              throw new ConfigurationError('fetch returned a response whose body has no bytes');
            count += piece.byteLength;
            if (expected !== undefined && count > expected) throw wrongLength();
            controller.enqueue(piece);
            return;
          }
          if (expected !== undefined && count < expected) throw wrongLength();
          deadline.close();
          controller.close();
        } catch (error) {
          deadline.close();
          cancel();
          throw error;
        }
      },
      cancel(reason) {
        begun.add(body);
        deadline.close();
        cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return body;
}

/** By its kind and not by its class: tests, and frames of pages, have other classes. */
function isBytes(piece: unknown): piece is Uint8Array {
  return ArrayBuffer.isView(piece);
}

/**
 * Reads a body as text.
 *
 * @param limit the longest body that is accepted, in bytes
 * @throws {ApiError} `invalid-response` if the body is longer
 */
export async function readText(
  body: ReadableStream<Uint8Array>,
  limit: number,
  spec: RequestSpec,
): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > limit) {
      void reader.cancel().catch(() => undefined);
      const problem = `the response is longer than ${limit} bytes (the option bodyLimit)`;
      throw invalidResponse(spec, problem);
    }
    text += decoder.decode(value, { stream: true });
  }
}
