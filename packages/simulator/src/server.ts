import fastify from 'fastify';
import type { AddressInfo } from 'node:net';
import type { Simulation } from './simulation.ts';

/** A listening server. */
export interface Server {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the HTTP side of a simulation, on loopback only. */
export async function serve(simulation: Simulation, _apiToken: string): Promise<Server> {
  const app = fastify({ forceCloseConnections: true });
  await app.listen({ host: '127.0.0.1', port: simulation.settings.port });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, close: () => app.close() };
}
