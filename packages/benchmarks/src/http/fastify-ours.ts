import Fastify from 'fastify';
import { callWebhooks } from '@call-webhooks/fastify';
import { started } from './fastify-app.ts';
import { OPTIONS } from './receiver-options.ts';

export const listen = () => {
  const app = Fastify();
  app.register(callWebhooks, { path: '/hook', ...OPTIONS });
  return started(app);
};
