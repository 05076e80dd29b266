import { alreadyParsed, tooLarge, tooSlow, type BodyLimits } from './body.ts';

/**
 * The raw body of a `Request`, within its limits.
 * @throws WebhookError `body-too-large`, `body-timeout`, `body-already-parsed`
 */
export async function readWebBody(
  request: Request,
  { bodyLimit, bodyTimeout }: BodyLimits,
): Promise<Uint8Array> {
  if (request.bodyUsed || request.body?.locked)
    throw alreadyParsed('Call the handler before request.json(), .text() or the like.');
  if (!request.body) return new Uint8Array();

  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const state = { late: false };
  const timer = setTimeout(() => {
    state.late = true;
    void reader.cancel().catch(() => undefined);
  }, bodyTimeout);
  try {
    for (;;) {
      const { done, value } = (await reader.read()) as { done: boolean; value?: Uint8Array };
      if (state.late) throw tooSlow(`bodyTimeout, ${String(bodyTimeout)} ms, is over`);
      if (done) break;
      if (value) chunks.push(value);
      length += value?.length ?? 0;
      if (length > bodyLimit) throw tooLarge(bodyLimit);
    }
  } finally {
    clearTimeout(timer);
    if (length > bodyLimit) void reader.cancel().catch(() => undefined);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : joined(chunks, length);
}

function joined(chunks: Uint8Array[], length: number): Uint8Array {
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
