import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { WebhookError } from '@call-webhooks/core';

/** Answers the requests to one path. */
export interface Endpoint {
  /** Whether a request, named by its URL without the origin, is for the receiver. */
  matches(url: string | undefined): boolean;
  handle(request: IncomingMessage, response: ServerResponse): unknown;
}

/** What this file uses of the two platforms. */
interface ExpressApp {
  use(
    middleware: (request: IncomingMessage, response: ServerResponse, next: () => void) => void,
  ): unknown;
}
interface FastifyApp {
  addHook(
    name: 'onRequest',
    hook: (
      request: { raw: IncomingMessage },
      reply: { raw: ServerResponse; hijack(): void },
      done: () => void,
    ) => void,
  ): unknown;
}

/**
 * Puts an endpoint in front of everything that the app does with a request. It has to be called before
 * `app.init()`, in which Nest adds its body parsers: the signature covers the raw bytes.
 * @throws WebhookError `invalid-options` on other platforms than Express and Fastify
 */
export function mount(adapter: AbstractHttpAdapter, endpoint: Endpoint): void {
  const type = adapter.getType();
  if (type === 'express') mountInExpress(adapter.getInstance<ExpressApp>(), endpoint);
  else if (type === 'fastify') mountInFastify(adapter.getInstance<FastifyApp>(), endpoint);
  else
    throw new WebhookError(
      'invalid-options',
      `CallWebhooksModule supports the Express and the Fastify platform, not ${type}.`,
    );
}

function mountInExpress(app: ExpressApp, endpoint: Endpoint): void {
  app.use((request, response, next) => {
    if (endpoint.matches(request.url)) void endpoint.handle(request, response);
    else next();
  });
}

function mountInFastify(app: FastifyApp, endpoint: Endpoint): void {
  app.addHook('onRequest', ({ raw }, reply, done) => {
    if (!endpoint.matches(raw.url)) {
      done();
      return;
    }
    reply.hijack(); // Fastify neither parses the body nor answers
    void endpoint.handle(raw, reply.raw);
  });
}
