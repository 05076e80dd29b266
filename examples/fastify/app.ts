import { callWebhooks, ready, type Handlers, type Secret } from '@call-webhooks/fastify';
import fastify from 'fastify';
import { path } from './config.ts';
import type { Storage } from './storage.ts';

interface Options {
  secret: Secret;
  storage: Storage;
  on: Handlers;
  /** Of the log, which the receiver writes to as well. */
  level: 'info' | 'silent';
}

export function createApp({ secret, storage, on, level }: Options) {
  const { store, deadLetters } = storage;
  const app = fastify({ logger: { level } });

  // It reads the raw body, which the signature covers. Other routes keep their body parsers.
  const hook = callWebhooks({ path, secret, store, deadLetter: deadLetters, on });
  app.register(hook);

  // Whether the process runs, and whether it would accept a delivery now.
  app.get('/health', () => ({ ok: true }));
  app.get('/ready', ready(hook));

  // A 404 at a mistyped path would pause the rule at once.
  app.setNotFoundHandler((_request, reply) => reply.code(503).send());

  return { app, receiver: hook.receiver };
}
