import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Balancer {
  /** The webhook's URL. */
  readonly url: string;
  close(): void;
}

/**
 * Load balancer with one address, the only one that the service knows. Spreads connections over the
 * receivers in turn and skips one that refuses. A frozen receiver accepts and never responds, as
 * behind a real balancer.
 */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  let next = 0;

  function forward(client: Socket, first: number, tried: number): void {
    if (client.destroyed) return;
    const port = ports[(first + tried) % ports.length] as number;
    const upstream = connect(port, '127.0.0.1');
    const refused = () => {
      if (tried + 1 < ports.length) forward(client, first, tried + 1);
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
    forward(client, next++, 0);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/hook`,
    close: () => void server.close(),
  };
}
