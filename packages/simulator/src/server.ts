import fastify, { type FastifyInstance } from 'fastify';
import type { AddressInfo } from 'node:net';
import { control } from './control/control.ts';
import type { Session } from './control/session-controls.ts';
import { answerOfError, errorAnswer } from './http/error-answer.ts';
import { guard } from './http/guard.ts';
import { servePage } from './http/page.ts';
import { rest } from './rest/rest.ts';
import type { Simulation } from './simulation.ts';

/** A listening server. */
export interface Server {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the HTTP side of a simulation, on loopback only. Rejects as `listen` does. */
export async function serve(simulation: Simulation, session: Session): Promise<Server> {
  const app = fastify({ forceCloseConnections: true });
  guard(app);
  acceptJson(app);
  app.setErrorHandler((error, _request, reply) => {
    const { status, body } = answerOfError(error);
    return reply.code(status).send(body);
  });
  app.setNotFoundHandler((_request, reply) => {
    const { status, body } = errorAnswer(404, 'not-found', 'There is nothing here.');
    return reply.code(status).send(body);
  });
  servePage(app, simulation.settings.inspector);
  await app.register(
    (scope, _options, done) => {
      rest(scope, simulation, session.apiToken);
      done();
    },
    { prefix: '/v1' },
  );
  await app.register(
    (scope, _options, done) => {
      control(scope, simulation, session);
      done();
    },
    { prefix: '/_sim' },
  );
  await app.listen({ host: '127.0.0.1', port: simulation.settings.port });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, close: () => app.close() };
}

/** JSON bodies only, and an empty one is none. */
function acceptJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parse(request, body as string, done);
  });
}
