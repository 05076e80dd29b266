import { callWebhooks, type Store } from '@call-webhooks/koa';
import Koa from 'koa';
import { handlers } from './handlers.ts';

interface Options {
  secret: string | undefined;
  store: Store;
}

export function createApp({ secret, store }: Options) {
  const app = new Koa();

  // Before the body parser: the signature covers the raw body.
  const hook = callWebhooks({ path: '/hook', secret, store, on: handlers });
  app.use(hook);

  app.use(async (ctx, next) => {
    if (ctx.path === '/health') {
      const health = await hook.receiver.health();
      ctx.status = health.ok ? 200 : 503;
      ctx.body = health;
    } else {
      await next();
    }
  });

  return { app, receiver: hook.receiver };
}
