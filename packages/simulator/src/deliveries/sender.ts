import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from './answer.ts';
import { readAnswer } from './answer-body.ts';

/** One request, as it goes over the wire. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Real milliseconds over which the body is spread; 0: it is sent at once. */
  readonly slowBodyMs: number;
}

/** Sends one request. It never rejects: whatever happens is an answer. */
export type Send = (outgoing: OutgoingRequest, signal: AbortSignal) => Promise<Answer>;

/** How certificates of https receivers are checked: the options of `node:tls`, `ca` for example. */
export type TlsOptions = Pick<ConnectionOptions, 'ca' | 'rejectUnauthorized'>;

/**
 * Sends with `node:http`, which adds no headers but `Host` and `Connection`. Redirects are not
 * followed. Every attempt has a connection of its own, so none fails because an idle one was closed.
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
      request.on('response', (response: IncomingMessage) => {
        void readAnswer(response)
          .then(resolve)
          .then(() => request.destroy());
      });
      // What comes after the answer is no error: a receiver may answer before it has read the body.
      request.on('error', (error: NodeJS.ErrnoException) => {
        resolve({ kind: 'connection-error', code: error.code ?? error.name });
      });
      request.on('close', () => {
        resolve({ kind: 'connection-error', code: 'ECONNRESET' });
      });
      void write(request, outgoing, signal);
    });
}

const SLOW_PIECES = 8;

async function write(
  request: ClientRequest,
  { body, slowBodyMs }: OutgoingRequest,
  signal: AbortSignal,
): Promise<void> {
  const size = Math.max(1, Math.ceil(body.length / SLOW_PIECES));
  for (let at = 0; slowBodyMs > 0 && at < body.length; at += size) {
    if (request.destroyed || signal.aborted) return;
    request.write(body.subarray(at, at + size));
    await pause(slowBodyMs / SLOW_PIECES);
  }
  if (!request.destroyed) request.end(slowBodyMs > 0 ? undefined : body);
}
