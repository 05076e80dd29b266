import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import type { AttemptResponse } from './webhook-event.ts';

/** One request, as it is sent. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Real milliseconds over which the body is spread. With 0 it is sent at once. */
  readonly slowBodyMs: number;
}

/** Sends one request. It never rejects: a failure is a response too. */
export type Send = (outgoing: OutgoingRequest, signal: AbortSignal) => Promise<AttemptResponse>;

/** TLS options for https receivers, as in `node:tls`. */
export type TlsOptions = Pick<ConnectionOptions, 'ca' | 'rejectUnauthorized'>;

const SLOW_BODY_CHUNKS = 8;
const KEPT_BODY_BYTES = 65_536;
/** Real milliseconds. How long to read a response body, which the service ignores. */
const BODY_TIMEOUT_MS = 1_000;

/**
 * Sends with `node:http`, which adds only the headers `Host` and `Connection`. It does not follow
 * redirects, and it opens a connection for every attempt, so none fails because a server closed an
 * idle one.
 * @guess Whether redirects are followed
 */
export function httpSender(tls: TlsOptions): Send {
  return (outgoing, signal) =>
    new Promise((resolve) => {
      const options = { method: 'POST', headers: outgoing.headers, agent: false, signal } as const;
      const url = new URL(outgoing.url);
      const request =
        url.protocol === 'https:'
          ? httpsRequest(url, { ...options, ...tls })
          : httpRequest(url, options);
      // The status line decides. Errors after it no longer change the response: the receiver may
      // not read the whole request, and may not finish its own body.
      let responded = false;
      const fail = (code: string) => {
        if (!responded) resolve({ kind: 'connection-error', code });
      };
      request.on('response', (response: IncomingMessage) => {
        responded = true;
        void readResponse(response)
          .then(resolve)
          .then(() => request.destroy());
      });
      request.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.name));
      request.on('close', () => fail('ECONNRESET'));
      void writeBody(request, outgoing, signal);
    });
}

/** Keeps the beginning of the body. It resolves whatever becomes of the rest. */
function readResponse(response: IncomingMessage): Promise<AttemptResponse> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (complete: boolean) => {
      clearTimeout(timer);
      const bytes = Buffer.concat(chunks);
      resolve({
        kind: 'status',
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: bytes.toString('utf8', 0, Math.min(bytes.length, KEPT_BODY_BYTES)),
        truncated: !complete || bytes.length > KEPT_BODY_BYTES,
      });
    };
    const timer = setTimeout(finish, BODY_TIMEOUT_MS, false);
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > KEPT_BODY_BYTES) finish(false);
    });
    response.on('end', () => finish(true));
    for (const event of ['error', 'close']) response.on(event, () => finish(false));
  });
}

async function writeBody(
  request: ClientRequest,
  { body, slowBodyMs }: OutgoingRequest,
  signal: AbortSignal,
): Promise<void> {
  const size = Math.max(1, Math.ceil(body.length / SLOW_BODY_CHUNKS));
  for (let at = 0; slowBodyMs > 0 && at < body.length; at += size) {
    if (request.destroyed || signal.aborted) return;
    request.write(body.subarray(at, at + size));
    await delay(slowBodyMs / SLOW_BODY_CHUNKS);
  }
  if (!request.destroyed) request.end(slowBodyMs > 0 ? undefined : body);
}
