import type { IncomingMessage, ServerResponse } from 'node:http';
import { WebhookError } from '@call-webhooks/core';
import type { Answer } from '../http/answer.ts';
import type { MountedRequest } from '../http/request.ts';
import { answerNode } from './node.ts';

interface FastifyRequest {
  readonly raw: IncomingMessage;
}

interface FastifyReply {
  readonly raw: ServerResponse;
  hijack(): unknown;
}

type FastifyRoute = (request: FastifyRequest, reply: FastifyReply) => void;

/** What is used of a Fastify instance, whatever its types are. */
export interface FastifyScope {
  readonly prefix: string;
  removeAllContentTypeParsers: Method;
  addContentTypeParser: Method;
  all: Method;
  setNotFoundHandler: Method;
}

type Method = (...parameters: never[]) => unknown;

interface CallableScope {
  readonly prefix: string;
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    parser: (
      request: unknown,
      payload: IncomingMessage,
      done: (error: null, body: unknown) => void,
    ) => void,
  ): unknown;
  all(path: string, route: FastifyRoute): unknown;
  setNotFoundHandler(route: FastifyRoute): unknown;
}

/** A Fastify plugin. Everything below the `prefix` that it is registered with is the console's. */
export type FastifyMount = (
  instance: FastifyScope,
  options: unknown,
  done: (error?: Error) => void,
) => void;

const WITHOUT_PREFIX =
  "Register the console with a prefix of its own: app.register(console.fastify, { prefix: '/ops/webhooks' }).";

export function fastifyMount(handle: (request: MountedRequest) => Promise<Answer>): FastifyMount {
  return (instance, _options, done) => {
    const scope: CallableScope = instance;
    const respond: FastifyRoute = (request, reply) => {
      reply.hijack();
      const { url = '/' } = request.raw;
      const place = {
        url,
        documentUrl: url,
        mount: scope.prefix.replace(/\/+$/, ''),
        raw: request,
      };
      void answerNode(handle, request.raw, reply.raw, place);
    };
    if (scope.prefix === '') {
      done(new WebhookError('invalid-options', WITHOUT_PREFIX));
      return;
    }
    // The console reads bodies itself, within its own limit.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, parsed) => {
      parsed(null, payload);
    });
    scope.all('/', respond);
    scope.all('/*', respond);
    // Methods that Fastify has no routes for.
    scope.setNotFoundHandler(respond);
    done();
  };
}
