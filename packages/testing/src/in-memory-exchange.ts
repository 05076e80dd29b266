import { once } from 'node:events';
import { createServer, Server, type RequestListener } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { duplexPair, type Duplex } from 'node:stream';
import { WebhookError } from '@call-webhooks/core';
import { RawResponseParser, type RawResponse } from './raw-response.ts';
import type { SignedBytes } from './signed-request.ts';

/** Kept here because the mocked timers of a user's tests replace the global one. */
const onImmediate = globalThis.setImmediate;

/** A request listener for `node:http`. Express and Connect pass it a third argument. */
export type NodeListener = (...args: Parameters<RequestListener>) => unknown;

/**
 * Sends a request to a server or listener of `node:http` over a connection in memory, so that all of
 * HTTP is real and no port is opened. The request is written onto the connection as bytes: tools such as
 * nock and MSW intercept what `http.request` would send. Fastify's own `inject` would not do: on Node 20
 * it cannot be loaded in Jest, because a package that it needs is ESM only.
 */
export async function inMemoryExchange(
  target: Server | NodeListener,
  path: string,
  signed: SignedBytes,
): Promise<RawResponse> {
  let fail!: (error: unknown) => void;
  const failed = new Promise<never>((_resolve, reject) => (fail = reject));
  const server = target instanceof Server ? target : serverOf(target, fail);
  const connection = await connectionTo(server);
  try {
    return await Promise.race([exchange(connection.socket, requestBytes(path, signed)), failed]);
  } finally {
    connection.close();
  }
}

interface Connection {
  /** The side of the client. */
  readonly socket: Duplex;
  close(): void;
}

async function connectionTo(server: Server): Promise<Connection> {
  const [socket, serverSide] = duplexPair();
  // Frameworks and rate limiters ask for the address of the client.
  Object.assign(serverSide, { remoteAddress: '127.0.0.1' });
  // The client sees that the server has closed the connection, but first what it has sent.
  serverSide.once('close', () => onImmediate(() => socket.destroy()));
  if (server.emit('connection', serverSide)) return { socket, close: () => serverSide.destroy() };
  // The servers of Bun before 1.3 take connections of the network alone.
  const wasListening = server.listening;
  if (!wasListening) await once(server.listen(0, '127.0.0.1'), 'listening');
  const overLoopback = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const close = () => {
    overLoopback.destroy();
    if (!wasListening) server.close();
  };
  return { socket: overLoopback, close };
}

function exchange(socket: Duplex, request: Uint8Array): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const parser = new RawResponseParser();
    const settle = (isAtEnd: boolean) => {
      const response = parser.response(isAtEnd);
      if (response) resolve(response);
      else if (isAtEnd)
        reject(new Error('The connection was closed before the response had arrived.'));
    };
    socket
      .on('error', reject)
      .on('data', (chunk: Buffer) => {
        parser.push(chunk);
        settle(false);
      })
      .on('end', () => settle(true))
      .on('close', () => settle(true));
    socket.write(request);
  });
}

/** The bytes of a request. Characters of the path that HTTP does not have are percent-encoded. */
function requestBytes(path: string, { headers, body }: SignedBytes): Uint8Array {
  const ofConnection = { 'content-length': String(body.length), connection: 'close' };
  const all = new Headers({ host: 'localhost', ...headers, ...ofConnection });
  const lines = [...all].map(([name, value]) => `${name}: ${value}\r\n`);
  const encoded = path.replace(/[^\x21-\x7e]/gu, encodeURIComponent);
  const head = `POST ${encoded} HTTP/1.1\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

/** An error of a listener would otherwise leave the request without a response. */
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
