import { alreadyParsed, type BodyLimits, bodyTimedOut, LINGER_MS, tooLarge } from './request.ts';

/**
 * The raw body of a fetch `Request`, within its limits.
 * @throws WebhookError `body-too-large`, `body-timeout`, `body-already-parsed`
 */
export async function readWebBody(
  request: Request,
  { bodyLimit, bodyTimeout }: BodyLimits,
): Promise<Uint8Array> {
  if (request.bodyUsed || request.body?.locked)
    throw alreadyParsed('Call the handler before request.json(), request.text() and the like.');
  if (!request.body) return new Uint8Array();
  if (typeof request.body.getReader !== 'function')
    throw alreadyParsed('Pass the Request as the server gave it, with its body as a stream.');

  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(bodyTimedOut(bodyTimeout));
    }, bodyTimeout);
  });
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), timeout]);
      if (done) break;
      chunks.push(value);
      length += value.length;
      if (length > bodyLimit) throw tooLarge(bodyLimit);
    }
  } catch (error) {
    cancelLater(reader);
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : concatenated(chunks, length);
}

/**
 * Cancels the rest of a body, some time after the response. To cancel it at once would close the
 * connection of some hosts (SvelteKit, React Router), and the client would never see the response.
 */
function cancelLater(reader: ReadableStreamDefaultReader): void {
  const timer = setTimeout(() => {
    void reader.cancel().catch(() => undefined);
  }, LINGER_MS);
  // It must not keep the process alive. (In browsers it is a number.)
  if (typeof timer === 'object') timer.unref();
}

function concatenated(chunks: Uint8Array[], length: number): Uint8Array {
  const body = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.length;
  }
  return body;
}
