import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy of a test's own in front of a server on the loopback interface. */
export interface TcpProxy {
  readonly port: number;
  /**
   * Forgets the connections that are open, as a firewall does: what is sent on them arrives nowhere, and
   * neither side hears that they have ended. New ones are passed on as before.
   */
  drop(): void;
  /** Passes on what the server says so much later from now on; milliseconds. */
  delay(ms: number): void;
  close(): Promise<void>;
}

export async function tcpProxy(target: number): Promise<TcpProxy> {
  const open = new Set<{ sockets: readonly Socket[]; isDropped: boolean }>();
  let delayMs = 0;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    const connection = { sockets: [client, upstream], isDropped: false };
    open.add(connection);
    const pass = (from: Socket, to: Socket) => {
      from.on('data', (data) => {
        if (connection.isDropped) return;
        if (from === upstream && delayMs > 0) setTimeout(() => to.write(data), delayMs);
        else to.write(data);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        if (connection.isDropped) return; // the other side hears nothing
        to.destroy();
        open.delete(connection);
      });
    };
    pass(client, upstream);
    pass(upstream, client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    drop() {
      for (const connection of open) connection.isDropped = true;
    },
    delay(ms) {
      delayMs = ms;
    },
    async close() {
      for (const { sockets } of open) for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
