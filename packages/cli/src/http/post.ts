import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** One request, as it goes over the wire: no header is added but Host, Connection and the length. */
export interface Outgoing {
  readonly url: string;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array;
  /** Milliseconds to wait for the head of the answer. */
  readonly timeout: number;
}

/** What came back. */
export type Answer =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers: IncomingMessage['headers'];
      /** At most 64 KiB of it. */
      readonly body: Buffer;
      readonly ms: number;
    }
  | { readonly kind: 'timeout'; readonly ms: number }
  | { readonly kind: 'connection-error'; readonly code: string; readonly ms: number };

const BODY_LIMIT = 65_536;

/**
 * Sends one request with `node:http`, on a connection of its own; redirects are not followed.
 * Whatever happens is an answer. @throws the signal's reason, when it is aborted
 */
export async function send(outgoing: Outgoing, signal: AbortSignal): Promise<Answer> {
  const started = performance.now();
  const took = () => Math.round(performance.now() - started);
  const late = AbortSignal.timeout(outgoing.timeout);
  try {
    const response = await head(outgoing, AbortSignal.any([signal, late]));
    const body = await start(response);
    const { statusCode: status = 0, headers } = response;
    return { kind: 'status', status, headers, body, ms: took() };
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) return { kind: 'timeout', ms: took() };
    const { code, message } = error as NodeJS.ErrnoException;
    return { kind: 'connection-error', code: code ?? message, ms: took() };
  }
}

function head(outgoing: Outgoing, signal: AbortSignal): Promise<IncomingMessage> {
  const { url, method = 'POST', headers, body } = outgoing;
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(
      url,
      { method, agent: false, signal, headers: headers as Record<string, string | string[]> },
      resolve,
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** The first part of a body; the rest is not waited for. */
async function start(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      pieces.push(piece);
      length += piece.length;
      if (length >= BODY_LIMIT) break;
    }
  } catch {
    // The status is what counts: the service ignores the body.
  }
  return Buffer.concat(pieces).subarray(0, BODY_LIMIT);
}
