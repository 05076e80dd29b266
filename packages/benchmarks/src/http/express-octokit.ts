import express from 'express';
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks';
import { SECRET } from '../sending/schemes.ts';
import { handle } from './answer.ts';

/** octokit's middleware. It signs the body alone, and its answer (`ok`) can't be chosen. */
export const listen = () => {
  const app = express();
  const webhooks = new Webhooks({ secret: SECRET });
  webhooks.on('push', ({ payload }) => {
    handle(payload);
  });
  app.use(createNodeMiddleware(webhooks, { path: '/hook' }));
  return app.listen(0, '127.0.0.1');
};
