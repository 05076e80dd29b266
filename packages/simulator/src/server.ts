import fastify, { type FastifyInstance } from 'fastify';
import type { AddressInfo } from 'node:net';
import { controlApi, type Session } from './control/control.ts';
import { answerOfError, errorAnswer } from './http/error-answer.ts';
import { guard } from './http/guard.ts';
import { servePage } from './http/page.ts';
import { restApi } from './rest/rest.ts';
import type { Simulation } from './simulation.ts';

/** A listening server. */
export interface Server {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves a simulation over HTTP, on loopback only. Rejects as `listen` does. */
export async function serve(simulation: Simulation, session: Session): Promise<Server> {
  const app = fastify({ forceCloseConnections: true });
  guard(app);
  acceptJson(app);
  app.setErrorHandler((error, _request, reply) => {
    const { status, body } = answerOfError(error);
    return reply.code(status).send(body);
  });
  app.setNotFoundHandler((_request, reply) => {
    const { status, body } = errorAnswer(404, 'not-found', 'No route matches this request.');
    return reply.code(status).send(body);
  });
  servePage(app);
  await app.register(
    (scope, _options, done) => {
      restApi(scope, simulation, session.apiToken);
      done();
    },
    { prefix: '/v1' },
  );
  await app.register(
    (scope, _options, done) => {
      controlApi(scope, simulation, session);
      done();
    },
    { prefix: '/_sim' },
  );
  await app.listen({ host: '127.0.0.1', port: simulation.settings.port });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, close: () => app.close() };
}

/** Accepts JSON bodies only. An empty body counts as none. */
function acceptJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parse(request, body as string, done);
  });
}
