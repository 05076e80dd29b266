import { callWebhooks, type Store } from '@call-webhooks/fastify';
import fastify from 'fastify';
import { handlers } from './handlers.ts';

interface Options {
  secret: string | undefined;
  store: Store;
}

export function createApp({ secret, store }: Options) {
  const app = fastify({ logger: true });

  // The plugin reads the raw body, which the signature covers. Other routes keep their body parsers.
  const hook = callWebhooks({ path: '/hook', secret, store, on: handlers });
  app.register(hook);

  app.get('/health', async (_request, reply) => {
    const health = await hook.receiver.health();
    return reply.code(health.ok ? 200 : 503).send(health);
  });

  return app;
}
