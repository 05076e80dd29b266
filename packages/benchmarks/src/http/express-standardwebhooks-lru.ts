import express from 'express';
import type { Buffer } from 'node:buffer';
import { Webhook } from 'standardwebhooks';
import { SECRET } from '../sending/schemes.ts';
import { writeAnswer } from './answer.ts';
import { handleOnce } from './duties.ts';

/** standardwebhooks with the duties of a careful user. */
export const listen = () => {
  const app = express();
  const webhook = new Webhook(SECRET);
  app.post('/hook', express.raw({ type: 'application/json' }), (request, response) => {
    const headers = request.headers as Record<string, string>;
    handleOnce(headers['webhook-id'] as string, webhook.verify(request.body as Buffer, headers));
    writeAnswer(request, response);
  });
  return app.listen(0, '127.0.0.1');
};
