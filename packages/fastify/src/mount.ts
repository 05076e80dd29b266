import { METHODS } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Receiver } from '@call-webhooks/core';
import { discardRest, readRawBody } from '@call-webhooks/core/node';

const FIX =
  'Something read it before the route did: look for a preParsing hook or a plugin that consumes request.raw.';

/** Puts a receiver at the root of a scope of its own. */
export function mount(
  scope: FastifyInstance,
  receiver: Receiver,
  graceMs: number,
  ownPath: boolean,
): void {
  // The signature is over the raw bytes, so nobody parses them here: the receiver reads the stream.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, payload, done) => {
    done(null, payload);
  });

  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { status, headers, body } = await receiver.receive({
      method: request.method,
      headers: request.headers,
      body: (limits) => readRawBody(request.raw, limits, FIX),
      // Fastify's logger of `logger: false` has no level, and drops every line.
      log: 'level' in request.log ? request.log : undefined,
    });
    if (!request.raw.complete) {
      reply.raw.once('finish', () => {
        discardRest(request.raw);
      });
    }
    return reply.code(status).headers(headers).send(body);
  };
  if (!ownPath) learnMethods(scope);
  scope.all('/', answer);
  // A content type that Fastify can't read, or misses, is no matter: the receiver reads bytes.
  scope.setErrorHandler((error: Error & Partial<FastifyError>, request, reply) => {
    if (!/^FST_ERR_(?:CTP|ROUTE_MISSING_CONTENT_TYPE)/.test(error.code ?? '')) throw error;
    return answer(request, reply);
  });
  // Methods that Fastify has no routes for would get its 404, and a 404 pauses the rule. Without a
  // path of its own the prefix is somebody else's, and so is the 404 below it: see `learnMethods`.
  if (ownPath) scope.setNotFoundHandler(answer);

  // Before the server waits for its connections: handlers that hold them have to end first.
  scope.addHook('preClose', () => receiver.close({ graceMs }));
}

/**
 * Teaches Fastify the methods that it has no routes for, so that `scope.all` takes them: the app's
 * 404 stays the app's. Fastify knows its methods for the whole app, so an `all` elsewhere that is
 * registered later takes them too; a receiver with a path of its own does without this.
 */
function learnMethods(scope: FastifyInstance): void {
  const known = new Set(scope.supportedMethods);
  for (const method of METHODS) if (!known.has(method)) scope.addHttpMethod(method);
}
