import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Handler = (
  request: Received,
  response: ServerResponse,
  message: IncomingMessage,
) => void | Promise<void>;

export interface TestServer {
  readonly origin: string;
  readonly port: number;
  /** Everything that arrived, in order. */
  readonly requests: Received[];
  close(): Promise<void>;
}

async function collect(message: IncomingMessage): Promise<string> {
  let body = '';
  for await (const piece of message.setEncoding('utf8')) body += piece as string;
  return body;
}

/** A real HTTP server on a free port of the loopback interface. */
export async function startServer(handler: Handler, host = '127.0.0.1'): Promise<TestServer> {
  const requests: Received[] = [];
  const server = createServer((message, response) => {
    void collect(message)
      .then((body) => {
        const { method = '', url = '', headers } = message;
        const received = { method, url, headers, body };
        requests.push(received);
        return handler(received, response, message);
      })
      .catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://${host}:${port}`,
    port,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function sendJson(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

/** A port on which nothing listens. */
export async function unusedPort(): Promise<number> {
  const server = await startServer(() => undefined);
  await server.close();
  return server.port;
}
