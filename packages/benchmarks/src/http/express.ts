import type { Buffer } from 'node:buffer';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { SECRET } from '../deliveries.ts';
import { importPackage } from '../checkout.ts';
import { handle, RECEIVER_OPTIONS, writeResponse } from './shared.ts';

type Headers = Record<string, string>;

/** An app with one route. */
function listen(...handlers: RequestHandler[]) {
  const app = express();
  app.post('/hook', ...handlers);
  return app.listen(0, '127.0.0.1');
}

/** A route that gets the raw body from `express.raw`, and responds in the cheapest way. */
function listenRaw(onDelivery: (body: Buffer, headers: Headers) => void) {
  return listen(
    express.raw({ type: 'application/json' }),
    (request: Request, response: Response) => {
      onDelivery(request.body as Buffer, request.headers as Headers);
      writeResponse(request, response);
    },
  );
}

export const servers = {
  /** No verification, an empty handler. */
  'express raw': () => listenRaw(handle),

  /** The same, responding as most apps do. */
  'express raw + sendStatus': () =>
    listen(express.raw({ type: 'application/json' }), (request: Request, response: Response) => {
      handle(request.body);
      response.sendStatus(200);
    }),

  /** As in its guide. Neither replays nor duplicates are detected. */
  'express + standardwebhooks': async () => {
    const { Webhook } = await import('standardwebhooks');
    const webhook = new Webhook(SECRET);
    return listenRaw((body, headers) => handle(webhook.verify(body, headers)));
  },

  'express + standardwebhooks + lru': async () => {
    const { Webhook } = await import('standardwebhooks');
    const { handleOnce } = await import('./deduplicate.ts');
    const webhook = new Webhook(SECRET);
    return listenRaw((body, headers) =>
      handleOnce(headers['webhook-id'] as string, webhook.verify(body, headers)),
    );
  },

  /** It signs the body alone, and its response (`ok`) can't be chosen. */
  'express + octokit': async () => {
    const { createNodeMiddleware, Webhooks } = await import('@octokit/webhooks');
    const webhooks = new Webhooks({ secret: SECRET });
    webhooks.on('push', ({ payload }) => {
      handle(payload);
    });
    return express()
      .use(createNodeMiddleware(webhooks, { path: '/hook' }))
      .listen(0, '127.0.0.1');
  },

  'express + call-webhooks': async (root: string) => {
    const { callWebhooks } = await importPackage<typeof import('@call-webhooks/express')>(
      root,
      'express',
    );
    return listen(callWebhooks(RECEIVER_OPTIONS));
  },
};
