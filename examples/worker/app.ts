import { callWebhooks, ready, type Logger, type Secret } from '@call-webhooks/express';
import express from 'express';
import { path } from './config.ts';
import type { Jobs } from './jobs.ts';

interface Options {
  secret: Secret;
  jobs: Jobs;
  logger: Logger;
}

/** Verifies deliveries and queues them. It has no handlers. */
export function createApp({ secret, jobs, logger }: Options) {
  const { store, queue } = jobs;
  const hook = callWebhooks({ secret, store, queue, logger });
  const app = express().disable('x-powered-by');

  app.all(path, hook); // before any body parser: the signature covers the raw body

  // Whether the process runs, and whether it would accept a delivery now.
  app.get('/health', (_request, response) => void response.json({ ok: true }));
  app.get('/ready', ready(hook));

  // A 404 at a mistyped path would pause the rule at once.
  app.use((_request, response) => void response.sendStatus(503));

  return { app, receiver: hook.receiver };
}
