import {
  callWebhooks,
  ready,
  type Handlers,
  type Logger,
  type Secret,
} from '@call-webhooks/express';
import express from 'express';
import { path } from './config.ts';
import type { Storage } from './storage.ts';

interface Options {
  secret: Secret;
  storage: Storage;
  on: Handlers;
  logger: Logger;
}

export function createApp({ secret, storage, on, logger }: Options) {
  const { store, deadLetters } = storage;
  const hook = callWebhooks({ secret, store, deadLetter: deadLetters, on, logger });
  const app = express().disable('x-powered-by');

  app.all(path, hook); // before any body parser: the signature covers the raw body

  // Whether the process runs, and whether it would accept a delivery now.
  app.get('/health', (_request, response) => void response.json({ ok: true }));
  app.get('/ready', ready(hook));

  // A 404 at a mistyped path would pause the rule at once.
  app.use((_request, response) => void response.sendStatus(503));

  return { app, receiver: hook.receiver };
}
