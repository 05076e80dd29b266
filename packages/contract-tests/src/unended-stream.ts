import { once } from 'node:events';
import { connect, createServer, type IncomingHttpHeaders } from 'node:http2';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { soon } from './soon.ts';

/** A request over HTTP/2 whose body never ends. */
export interface UnendedStream {
  readonly status: number;
  /** Resolves once the server has closed the stream. Rejects if it does not do so soon. */
  closed(): Promise<unknown>;
  /** Ends the connection and the server. */
  close(): void;
}

/** Serves a listener over HTTP/2, and posts the beginning of a body to it. */
export async function unendedStream(
  listener: RequestListener,
  beginning: string,
  headers: Record<string, string> = {},
): Promise<UnendedStream> {
  const server = createServer(listener as never).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = connect(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  const sent = { ':method': 'POST', ':path': '/hook', ...headers };
  const stream = session.request(sent, { endStream: false });
  const closed = once(stream, 'close');
  stream.resume().write(beginning);
  const responded = once(stream, 'response') as Promise<[IncomingHttpHeaders]>;
  const [response] = await soon(responded, 'The server did not respond.');
  return {
    status: Number(response[':status']),
    closed: () => soon(closed, 'The server did not close the stream of the unended body.'),
    close: () => {
      session.destroy();
      server.close();
    },
  };
}
