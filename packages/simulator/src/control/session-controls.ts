import type { FastifyInstance } from 'fastify';

/** What a simulator is besides its simulation. */
export interface Session {
  readonly apiToken: string;
  readonly close: () => Promise<void>;
}

/** The token of the REST side, and the end. Both only where they are asked for by name. */
export function sessionControls(app: FastifyInstance, { apiToken, close }: Session): void {
  app.get('/api-token', () => ({ apiToken }));
  app.post('/close', (_request, reply) => {
    // `Simulator.closed` tells when it is over, and if it failed.
    reply.raw.once('finish', () => void close().catch(() => undefined));
    return reply.code(202).send({ closing: true });
  });
}
