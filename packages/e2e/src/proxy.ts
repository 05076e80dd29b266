import {
  createServer,
  request as send,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A complete response of the server behind the proxy. */
export interface Forwarded {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Handles a request. `forward` sends it to the server behind the proxy. */
export type ProxyHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  forward: () => Promise<Forwarded>,
) => unknown;

/** Sends a forwarded response unchanged. */
export function sendForwarded(
  response: ServerResponse,
  { status, headers, body }: Forwarded,
): void {
  response.writeHead(status, headers).end(body);
}

async function collect(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

function forwardTo(target: string, request: IncomingMessage): Promise<Forwarded> {
  const url = new URL(request.url ?? '', target);
  const headers = { ...request.headers, host: url.host };
  return new Promise((resolve, reject) => {
    const forwarded = send(url, { method: request.method, headers }, (answer) => {
      collect(answer).then(
        (body) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }),
        reject,
      );
    });
    forwarded.on('error', reject);
    request.pipe(forwarded);
  });
}

/** Starts a proxy in front of `target`. It forwards everything, unless `handle` does something else. */
export async function startProxy(
  target: string,
  handle: ProxyHandler = async (_, response, forward) => sendForwarded(response, await forward()),
): Promise<{ origin: string; paths: string[]; close(): Promise<void> }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    const done = async () => {
      await handle(request, response, () => forwardTo(target, request));
    };
    void done().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    paths,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
