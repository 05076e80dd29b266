import { once } from 'node:events';
import { connect, createServer, type IncomingHttpHeaders } from 'node:http2';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request over HTTP/2 whose body never ends. */
export interface UnendedStream {
  readonly status: number;
  /** Resolves once the server has closed the stream. */
  readonly closed: Promise<unknown>;
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
  const [response] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  return {
    status: Number(response[':status']),
    closed,
    close: () => {
      session.destroy();
      server.close();
    },
  };
}
