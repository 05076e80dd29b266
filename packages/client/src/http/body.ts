import type { Deadline } from '../clock.ts';
import { ConfigurationError, NetworkError } from '../errors.ts';
import { describe, invalidResponse, type ReceivedResponse, type RequestSpec } from './exchange.ts';
import { safeCause } from './failure.ts';

const begun = new WeakSet<ReadableStream<Uint8Array>>();

/** Whether a checked body has been read from, even if the reader has released it again. */
export function hasBegun(body: ReadableStream<Uint8Array>): boolean {
  return body.locked || begun.has(body);
}

/**
 * A response body with checks: every wait for more bytes is limited by the deadline, and a broken
 * connection is a NetworkError. Nothing is read ahead.
 */
export function checkedBody(
  { response, redact }: Pick<ReceivedResponse, 'response' | 'redact'>,
  deadline: Deadline,
  spec: RequestSpec,
): ReadableStream<Uint8Array> {
  const reader = response.body?.getReader();
  const { signal } = deadline;
  // Not awaited: if the body hangs, cancel may hang too.
  const cancel = (reason?: unknown): void => void reader?.cancel(reason).catch(() => undefined);
  // Node's fetch may lose its signal when the Request is garbage-collected, and the body may have no
  // reader.
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', () => cancel(), { once: true });
  let count = 0;
  async function read(): Promise<Uint8Array | undefined> {
    const step = async () => reader?.read();
    const result = await deadline.run('body', step).catch((error: unknown) => {
      if (signal.aborted) throw error;
      throw new NetworkError(
        `${describe(spec)}: the connection broke after ${count} bytes of the response`,
        { maybeSent: true, cause: safeCause(error, redact) },
      );
    });
    // After an abort the pending read ends as if the body were complete.
    signal.throwIfAborted();
    if (result === undefined || result.done) return undefined;
    // By its kind and not by its class: tests, and frames of pages, have other classes.
    const piece: unknown = result.value;
    if (ArrayBuffer.isView(piece)) return piece as Uint8Array;
    throw new ConfigurationError('fetch returned a response whose body has no bytes');
  }
  const end = (reason?: unknown): void => {
    deadline.close();
    cancel(reason);
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        begun.add(body);
        const piece = await read().catch((error: unknown) => {
          end();
          throw error;
        });
        count += piece?.byteLength ?? 0;
        if (piece === undefined) {
          deadline.close();
          controller.close();
        } else controller.enqueue(piece);
      },
      cancel(reason) {
        begun.add(body);
        end(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return body;
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
      throw invalidResponse(spec, `the response is longer than ${limit} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
