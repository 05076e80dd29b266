import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import { createNodeHandler } from '../src/node.ts';
import { Lines, NOW, SECRET } from './support.ts';

const open: Server[] = [];

/** Ends every server of `serve`. */
export async function stopServers(): Promise<void> {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Serves on a free port, and gives it. */
export async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  open.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A handler with a clock that stands, and what it got and told. */
export function setup(options: object = {}) {
  const log = new Lines();
  const handle = jest.fn();
  const post = createNodeHandler({
    secret: SECRET,
    now: () => NOW,
    logger: log,
    ...options,
    on: { 'call:started': (event) => void handle(event) },
  });
  return { post, handle, lines: log.all };
}

export const send = async (port: number, init: object) => {
  const response = await fetch(`http://127.0.0.1:${String(port)}/hook`, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
};
