import { callWebhooks, type Store } from '@call-webhooks/express';
import express from 'express';
import { handlers } from './handlers.ts';

interface Options {
  secret: string | undefined;
  store: Store;
}

export function createApp({ secret, store }: Options) {
  const app = express();

  // Before the body parser: the signature covers the raw body.
  const hook = callWebhooks({ secret, store, on: handlers });
  app.all('/hook', hook);

  app.use(express.json());

  app.get('/health', async (_request, response) => {
    const health = await hook.receiver.health();
    response.status(health.ok ? 200 : 503).json(health);
  });

  return { app, receiver: hook.receiver };
}
