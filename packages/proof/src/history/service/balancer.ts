import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * The one address that the service knows: spreads connections over the receivers in turn, and passes
 * over one that refuses. One that is frozen accepts, and its connection hangs: as with a real balancer.
 * @returns the URL of the webhook
 */
export async function startBalancer(ports: readonly number[]): Promise<string> {
  let turn = 0;

  function join(client: Socket, tries: number): void {
    if (client.destroyed) return;
    const upstream = connect(ports[turn++ % ports.length] as number, '127.0.0.1');
    const refused = () => {
      if (tries > 1) join(client, tries - 1);
      else client.destroy();
    };
    upstream.once('error', refused);
    upstream.once('connect', () => {
      upstream.off('error', refused).on('error', () => client.destroy());
      client.pipe(upstream).pipe(client);
      upstream.on('close', () => client.destroy());
      client.on('close', () => upstream.destroy());
    });
  }

  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    join(client, ports.length);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`;
}
