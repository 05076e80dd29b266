import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that records each request: the request line, the raw headers and the body. */
export interface RequestRecorder {
  readonly origin: string;
  readonly port: number;
  readonly requests: string[];
  close(): Promise<void>;
}

/** Starts a recorder on all interfaces, so that it can be reached under other names. */
export async function startRequestRecorder(
  answer: (response: ServerResponse, request: IncomingMessage) => void = (response) =>
    void response.setHeader('content-type', 'application/json').end('{"results":[]}'),
): Promise<RequestRecorder> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const line = `${request.method ?? ''} ${request.url ?? ''}`;
      requests.push([line, ...request.rawHeaders, Buffer.concat(pieces).toString()].join('\n'));
      answer(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${String(port)}`,
    port,
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
