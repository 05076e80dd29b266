import { callWebhooks, type Store } from '@call-webhooks/hono';
import { Hono } from 'hono';
import { handlers } from './handlers.ts';

interface Options {
  secret: string | undefined;
  store: Store;
}

export function createApp({ secret, store }: Options) {
  const app = new Hono();

  // Before anything that reads the body: the signature covers the raw body.
  const hook = callWebhooks({ path: '/hook', secret, store, on: handlers });
  app.use(hook);

  app.get('/health', async (c) => {
    const health = await hook.receiver.health();
    return c.json(health, health.ok ? 200 : 503);
  });

  return { app, receiver: hook.receiver };
}
