import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Closed with the process or by `close`, whatever is open. */
export interface Balancer {
  /** Of the webhook. */
  readonly url: string;
  close(): void;
}

/**
 * The one address that the service knows: spreads connections over the receivers in turn, and passes
 * over one that refuses. One that is frozen accepts, and its connection hangs: as with a real balancer.
 */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  let turn = 0;

  function join(client: Socket, first: number, tried: number): void {
    if (client.destroyed) return;
    const port = ports[(first + tried) % ports.length] as number;
    const upstream = connect(port, '127.0.0.1');
    const refused = () => {
      if (tried + 1 < ports.length) join(client, first, tried + 1);
      else client.destroy();
    };
    upstream.once('error', refused);
    upstream.once('connect', () => {
      upstream.off('error', refused).on('error', () => client.destroy());
      client.pipe(upstream).pipe(client);
      client.on('close', () => upstream.destroy());
    });
  }

  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    join(client, turn++, 0);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/hook`,
    close: () => void server.close(),
  };
}
