import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that reached the receiver, with its raw body. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Respond = (
  received: Received,
  response: ServerResponse,
  count: number,
) => void | Promise<void>;

/** A receiver that knows nothing of our packages. */
export interface PlainReceiver {
  readonly url: string;
  readonly received: Received[];
  respond: Respond;
  /** Resolves when so many requests have arrived. */
  arrived(count?: number): Promise<void>;
  close(): Promise<void>;
}

export async function plainReceiver(
  respond: Respond | number = 200,
): Promise<PlainReceiver & { server: Server }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const one = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      received.push(one);
      void receiver.respond(one, response, received.length);
      server.emit('arrival');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const receiver = {
    url: `http://127.0.0.1:${String(port)}/hook`,
    server,
    received,
    respond:
      typeof respond === 'function'
        ? respond
        : (_received: Received, response: ServerResponse) => {
            response.writeHead(respond).end();
          },
    arrived: async (count = 1) => {
      while (received.length < count) await once(server, 'arrival');
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
  return receiver;
}
