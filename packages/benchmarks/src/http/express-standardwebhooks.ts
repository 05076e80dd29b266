import express from 'express';
import type { Buffer } from 'node:buffer';
import { Webhook } from 'standardwebhooks';
import { SECRET } from '../sending/schemes.ts';
import { handle, writeAnswer } from './answer.ts';

/** standardwebhooks as its guide mounts it; neither replays nor duplicates are kept out. */
export const listen = () => {
  const app = express();
  const webhook = new Webhook(SECRET);
  app.post('/hook', express.raw({ type: 'application/json' }), (request, response) => {
    handle(webhook.verify(request.body as Buffer, request.headers as Record<string, string>));
    writeAnswer(request, response);
  });
  return app.listen(0, '127.0.0.1');
};
