import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** One port in front of several machines. */
export interface Balancer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Spreads connections over the machines in turn and skips one that refuses. A connection that breaks
 * later stays broken.
 */
export async function startBalancer(machines: readonly number[]): Promise<Balancer> {
  let turn = 0;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  };

  function passOn(client: Socket, first: number, refusals = 0): void {
    const port = machines[(first + refusals) % machines.length] as number;
    const machine = connect(port, '127.0.0.1');
    keep(machine);
    const refused = () => {
      if (refusals + 1 < machines.length) passOn(client, first, refusals + 1);
      else client.destroy();
    };
    machine.once('error', refused);
    machine.once('connect', () => {
      machine.off('error', refused);
      machine.on('error', () => client.destroy());
      client.on('close', () => machine.destroy());
      client.pipe(machine).pipe(client);
    });
  }

  const server = createServer((client) => {
    keep(client);
    client.on('error', () => undefined); // it closes as well
    passOn(client, turn++);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
