import { createServer, request, Server, type RequestListener } from 'node:http';
import { duplexPair } from 'node:stream';
import { WebhookError } from '@call-webhooks/core';
import type { SignedBytes } from './signed-request.ts';

/** What came back. */
export interface RawResponse {
  readonly status: number;
  readonly body: string;
}

/** A function for `node:http`. Express and Connect pass it a third argument. */
export type NodeListener = (...args: Parameters<RequestListener>) => unknown;

/**
 * Sends a request to a server or listener of `node:http` over a connection in memory, so that all of
 * HTTP is real and no port is opened. Fastify's own `inject` would not do: on Node 20 it cannot be
 * loaded in Jest, because a package that it needs is ESM only.
 */
export function inMemoryExchange(
  target: Server | NodeListener,
  path: string,
  { headers, body }: SignedBytes,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const server = target instanceof Server ? target : serverOf(target, reject);
    const [clientSide, serverSide] = duplexPair();
    // Frameworks and rate limiters ask for the address of the client.
    Object.assign(serverSide, { remoteAddress: '127.0.0.1' });
    server.emit('connection', serverSide);
    const outgoing = request({
      method: 'POST',
      path,
      headers: {
        host: 'localhost',
        ...headers,
        'content-length': body.length,
        connection: 'close',
      },
      createConnection: () => clientSide,
    });
    outgoing.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        serverSide.destroy();
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() });
      });
    });
    outgoing.end(body);
  });
}

/** What a listener throws, or rejects with, would otherwise leave the request without a response. */
function serverOf(listener: NodeListener, fail: (error: unknown) => void): Server {
  return createServer((incoming, outgoing) => {
    const run = async () => {
      const returned = await listener(incoming, outgoing);
      if (!(returned instanceof Response)) return;
      throw new WebhookError(
        'invalid-options',
        "deliver: the function takes fetch's Request. Pass { as: 'fetch' }.",
      );
    };
    run().catch(fail);
  });
}
