import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: string[];
  readonly body: Buffer;
}

interface Response {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/**
 * A receiver that none of our packages had a part in.
 * @param answer the response; without one, it never responds
 */
export async function receiver(
  answer: (request: Received) => Response | undefined = () => ({ status: 200 }),
) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { method = '', url = '', headers, rawHeaders } = request;
      const taken = { method, url, headers, rawHeaders, body };
      received.push(taken);
      const given = answer(taken);
      if (given) response.writeHead(given.status, given.headers ?? {}).end(given.body ?? '');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/hook`,
    port,
    received,
    /** How many connections there are. */
    open: () => promisify(server.getConnections.bind(server))(),
    hangUp: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Whether the signature is right, by the spec and `node:crypto` alone. */
export function isSigned({ headers, body }: Received, secret = SECRET): boolean {
  const signature = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${String(headers['x-service-webhook-id'])}.${String(headers['x-service-timestamp'])}.`)
    .update(body)
    .digest('base64');
  return headers['x-service-signature'] === `v1,${signature}`;
}
