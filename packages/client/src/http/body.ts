import { InvalidResponseError, NetworkError } from '../errors/index.ts';
import type { Deadline } from './deadline.ts';
import type { Answer } from './exchange.ts';
import { safeCause } from './safe-cause.ts';

/** The length that a body must have, in bytes; undefined where it is unknown or compressed. */
export function expectedLength(response: Response): number | undefined {
  const encoding = response.headers.get('content-encoding');
  if (encoding !== null && encoding !== 'identity') return undefined;
  const length = response.headers.get('content-length');
  return length !== null && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

const begun = new WeakSet<ReadableStream<Uint8Array>>();

/** Whether reading of a watched body has begun, also when its reader has let go of it again. */
export function hasBegun(body: ReadableStream<Uint8Array>): boolean {
  return body.locked || begun.has(body);
}

/**
 * A response's body that is watched: each wait for a piece has the deadline's limit, a broken
 * connection is a NetworkError, and so is a length other than the announced one. It reads only
 * when it is read.
 */
export function watchedBody(
  answer: Answer,
  deadline: Deadline,
  request: string,
): ReadableStream<Uint8Array> {
  const { response, redactor } = answer;
  const expected = expectedLength(response);
  const reader = response.body?.getReader();
  const { signal } = deadline;
  // Not awaited: a body that hangs may hang in cancel too.
  const letGo = (reason?: unknown): void => void reader?.cancel(reason).catch(() => undefined);
  // Node's fetch may forget its signal once the Request is collected, and nobody may be reading.
  if (signal.aborted) letGo();
  else signal.addEventListener('abort', () => letGo(), { once: true });
  let received = 0;
  const cut = (): NetworkError =>
    new NetworkError(
      `${request}: the answer has ${received} bytes where ${expected} were announced`,
      {
        maybeSent: true,
      },
    );
  async function read(): Promise<Uint8Array | undefined> {
    if (reader === undefined) return undefined;
    try {
      const { done, value } = (await deadline.run('body', () => reader.read())) as {
        done: boolean;
        value?: Uint8Array;
      };
      // The cancel of an abort ends the pending read as if the body were complete.
      signal.throwIfAborted();
      return done ? undefined : value;
    } catch (error) {
      if (signal.aborted) throw error;
      const cause = safeCause(error, redactor);
      throw new NetworkError(
        `${request}: the connection broke after ${received} bytes of the answer`,
        {
          maybeSent: true,
          cause,
        },
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
            received += piece.byteLength;
            if (expected !== undefined && received > expected) throw cut();
            controller.enqueue(piece);
            return;
          }
          if (expected !== undefined && received < expected) throw cut();
          deadline.close();
          controller.close();
        } catch (error) {
          deadline.close();
          letGo();
          throw error;
        }
      },
      cancel(reason) {
        begun.add(body);
        deadline.close();
        letGo(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return body;
}

/**
 * Reads a body as text.
 *
 * @throws {InvalidResponseError} when it is longer than `limit` bytes
 */
export async function readText(
  body: ReadableStream<Uint8Array>,
  limit: number,
  request: string,
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
      throw new InvalidResponseError(`${request}: the answer is longer than ${limit} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
