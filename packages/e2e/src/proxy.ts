import {
  createServer,
  request as send,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer of the server behind the proxy, whole. */
export interface Forwarded {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Decides what becomes of a request. `forward` asks the server behind; it may be left out. */
export type Pass = (
  request: IncomingMessage,
  response: ServerResponse,
  forward: () => Promise<Forwarded>,
) => unknown;

/** Passes an answer on as it came. */
export function passOn(response: ServerResponse, { status, headers, body }: Forwarded): void {
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

/** Starts a proxy in front of `target`, which passes on everything unless `pass` does otherwise. */
export async function startProxy(
  target: string,
  pass: Pass = async (_, response, forward) => passOn(response, await forward()),
): Promise<{ origin: string; paths: string[]; close(): Promise<void> }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    const done = async () => {
      await pass(request, response, () => forwardTo(target, request));
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
