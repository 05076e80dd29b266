import { basicAuth, createConsole } from '@call-webhooks/console';
import {
  callWebhooks,
  ready,
  type Around,
  type Handlers,
  type Logger,
  type Secret,
} from '@call-webhooks/express';
import type { CallsClient } from '@call-webhooks/recovery';
import express from 'express';
import type { Storage } from './storage.ts';

export interface AppOptions {
  secret: Secret;
  storage: Pick<Storage, 'store' | 'deadLetters'>;
  on: Handlers;
  logger: Logger;
  consolePassword: string;
  /** Asks the service for its calls, for the console. */
  client: CallsClient;
  version?: string;
  around?: Around;
}

export function createApp(options: AppOptions) {
  const { secret, storage, on, logger, consolePassword, client, version, around } = options;
  const hook = callWebhooks({
    secret,
    on,
    logger,
    around,
    version,
    store: storage.store,
    deadLetter: storage.deadLetters,
    maxInFlight: 100, // five handlers for each connection of the pool: the others wait for one
  });
  const app = express().disable('x-powered-by');

  app.all('/hook', hook); // before any body parser: the signature covers the raw body

  // Liveness: the event loop runs. Readiness: a delivery would be accepted now.
  app.get('/health', (_request, response) => void response.json({ ok: true }));
  app.get('/ready', ready(hook));

  app.use(
    '/ops/webhooks',
    createConsole({
      receiver: hook.receiver,
      deadLetters: storage.deadLetters,
      reconcile: { client },
      authorize: basicAuth({ operator: consolePassword }),
      logger,
    }),
  );

  // A 404 at a mistyped path would pause the rule at once.
  app.use((_request, response) => void response.sendStatus(503));

  return { app, receiver: hook.receiver };
}
