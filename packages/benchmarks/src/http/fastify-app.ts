import Fastify, { type FastifyInstance } from 'fastify';
import type { Buffer } from 'node:buffer';
import { ANSWER, ANSWER_HEADERS } from './answer.ts';

/** A Fastify app that hands the raw bytes to one route. */
export function rawApp(take: (body: Buffer, headers: Record<string, string>) => void) {
  const app = Fastify();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  app.post('/hook', (request, reply) => {
    take(request.body as Buffer, request.headers as Record<string, string>);
    return reply.headers(ANSWER_HEADERS).send(ANSWER);
  });
  return app;
}

export async function started(app: FastifyInstance) {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
}
