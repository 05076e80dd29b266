import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

const closing: (() => Promise<unknown>)[] = [];

/** Closes all raw servers. For `afterEach`. */
export const closeRawServers = () => Promise.all(closing.splice(0).map((close) => close()));

/** A server of raw connections. @returns its URL */
export async function rawServer(
  onSocket: (socket: Socket) => void,
  pauseOnConnect = false,
): Promise<URL> {
  const sockets = new Set<Socket>();
  const one = createServer({ pauseOnConnect }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  one.listen(0, '127.0.0.1');
  await once(one, 'listening');
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    one.close();
    await once(one, 'close');
  });
  return new URL(`http://127.0.0.1:${String((one.address() as AddressInfo).port)}/hook`);
}

/** A server that accepts connections, and never answers. */
export const silentServer = () => rawServer((socket) => void socket.resume());
