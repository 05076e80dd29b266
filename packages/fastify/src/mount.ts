import { METHODS } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Receiver } from '@call-webhooks/core';
import { requestLogger } from '@call-webhooks/core/internal';
import { discardRestAfter, readRawBody } from '@call-webhooks/core/node';

const FIX =
  'Something read the body before the route did. Look for a preParsing hook or a plugin that consumes request.raw.';

/**
 * Mounts a receiver at the root of its own scope.
 * @param hasOwnPath whether the scope's path belongs to the receiver alone
 */
export function mount(
  scope: FastifyInstance,
  receiver: Receiver,
  graceMs: number,
  hasOwnPath: boolean,
): void {
  // The signature covers the raw bytes: nothing parses them here, and the receiver reads the stream.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, payload, done) => {
    done(null, payload);
  });

  const respond = async (request: FastifyRequest, reply: FastifyReply) => {
    const { status, headers, body } = await receiver.receive({
      method: request.method,
      url: request.originalUrl,
      headers: request.headers,
      body: (limits) => readRawBody(request.raw, limits, FIX, streamOf(request)),
      // With `logger: false`, Fastify's logger has no level and drops every line.
      log: 'level' in request.log ? requestLogger(request.log) : undefined,
    });
    discardRestAfter(reply.raw, request.raw);
    return reply.code(status).headers(headers).send(body);
  };
  if (!hasOwnPath) addAllMethods(scope);
  scope.all('/', respond);
  // An unknown or missing content type does not matter: the receiver reads bytes.
  scope.setErrorHandler((error: Error & Partial<FastifyError>, request, reply) => {
    if (!/^FST_ERR_(?:CTP|ROUTE_MISSING_CONTENT_TYPE)/.test(String(error.code))) throw error;
    return respond(request, reply);
  });
  // Methods that Fastify has no routes for would get its 404, which pauses the rule. Without a path of
  // its own, the receiver shares the prefix, and the 404 below it belongs to the app.
  if (hasOwnPath) scope.setNotFoundHandler(respond);

  // Before the server waits for its connections: the handlers that hold them have to end first.
  scope.addHook('preClose', () => receiver.close({ graceMs }));
}

/** What the parser below was given: a `preParsing` hook may have replaced the request's own stream. */
const streamOf = ({ body, raw }: FastifyRequest): Readable =>
  body instanceof Readable ? body : raw;

/**
 * Adds all HTTP methods to Fastify, so that `scope.all` handles them and the app keeps its 404. This
 * applies to the whole app: an `all` route that is registered later handles them as well.
 */
function addAllMethods(scope: FastifyInstance): void {
  const known = new Set(scope.supportedMethods);
  for (const method of METHODS) if (!known.has(method)) scope.addHttpMethod(method);
}
