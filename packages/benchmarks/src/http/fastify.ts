import type { Buffer } from 'node:buffer';
import Fastify, { type FastifyInstance } from 'fastify';
import { SECRET } from '../deliveries.ts';
import { importPackage } from '../checkout.ts';
import { handle, RECEIVER_OPTIONS, RESPONSE, RESPONSE_HEADERS } from './shared.ts';

type Headers = Record<string, string>;

async function listen(app: FastifyInstance) {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
}

/** An app with one route that gets the raw body. */
function listenRaw(onDelivery: (body: Buffer, headers: Headers) => void) {
  const app = Fastify();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  app.post('/hook', (request, reply) => {
    onDelivery(request.body as Buffer, request.headers as Headers);
    return reply.headers(RESPONSE_HEADERS).send(RESPONSE);
  });
  return listen(app);
}

export const servers = {
  /** No verification, an empty handler. */
  'fastify raw': () => listenRaw(handle),

  'fastify + standardwebhooks': async () => {
    const { Webhook } = await import('standardwebhooks');
    const webhook = new Webhook(SECRET);
    return listenRaw((body, headers) => handle(webhook.verify(body, headers)));
  },

  'fastify + standardwebhooks + lru': async () => {
    const { Webhook } = await import('standardwebhooks');
    const { handleOnce } = await import('./deduplicate.ts');
    const webhook = new Webhook(SECRET);
    return listenRaw((body, headers) =>
      handleOnce(headers['webhook-id'] as string, webhook.verify(body, headers)),
    );
  },

  'fastify + call-webhooks': async (root: string) => {
    const { callWebhooks } = await importPackage<typeof import('@call-webhooks/fastify')>(
      root,
      'fastify',
    );
    const app = Fastify();
    app.register(callWebhooks({ path: '/hook', ...RECEIVER_OPTIONS }));
    return listen(app);
  },
};
