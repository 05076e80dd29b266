import express from 'express';
import type { Buffer } from 'node:buffer';
import { collected } from './answer.ts';

/** `express.raw()` and an empty handler that answers as most apps do. */
export const listen = () => {
  const app = express();
  app.post('/hook', express.raw({ type: 'application/json' }), (request, response) => {
    collected(request.body as Buffer);
    response.sendStatus(200);
  });
  return app.listen(0, '127.0.0.1');
};
