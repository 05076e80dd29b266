import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** One request. Only Host, Connection and the length are added to its headers. */
interface PostRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array;
  /** How long to wait for the response headers, in milliseconds. */
  readonly timeout: number;
  /** Accepts any TLS certificate. */
  readonly insecure?: boolean | undefined;
  /** Sends the body in its own way, and ends the request; at once by default. */
  readonly sendBody?: ((request: ClientRequest) => Promise<void> | void) | undefined;
}

/** The response, or why there is none. */
export type PostResult =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers: IncomingMessage['headers'];
      /** The first 64 KiB. */
      readonly body: Buffer;
      readonly ms: number;
    }
  | { readonly kind: 'timeout'; readonly ms: number }
  | { readonly kind: 'connection-error'; readonly code: string; readonly ms: number };

const BODY_LIMIT = 65_536;

/**
 * Sends one request on a connection of its own, without following redirects. A failure is a result.
 * @throws the signal's reason, when it is aborted
 */
export async function post(request: PostRequest, signal: AbortSignal): Promise<PostResult> {
  signal.throwIfAborted();
  const started = performance.now();
  const elapsed = () => Math.round(performance.now() - started);
  const timeout = AbortSignal.timeout(request.timeout);
  try {
    const response = await responseTo(request, AbortSignal.any([signal, timeout]));
    const body = await firstPart(response);
    const { statusCode: status = 0, headers } = response;
    return { kind: 'status', status, headers, body, ms: elapsed() };
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) return { kind: 'timeout', ms: elapsed() };
    const { code, message } = error as NodeJS.ErrnoException;
    return { kind: 'connection-error', code: code ?? message, ms: elapsed() };
  }
}

function responseTo(given: PostRequest, signal: AbortSignal): Promise<IncomingMessage> {
  const { url, method = 'POST', headers, body, insecure = false, sendBody } = given;
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(
      url,
      {
        method,
        agent: false,
        signal,
        rejectUnauthorized: !insecure,
        headers: headers as Record<string, string | string[]>,
      },
      resolve,
    );
    request.on('error', reject);
    if (sendBody) Promise.resolve(sendBody(request)).catch(reject);
    else request.end(body);
  });
}

async function firstPart(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= BODY_LIMIT) break;
    }
  } catch {
    // Only the status counts: the service ignores the body.
  }
  return Buffer.concat(chunks).subarray(0, BODY_LIMIT);
}
