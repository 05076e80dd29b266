import express from 'express';
import type { Buffer } from 'node:buffer';
import { collected, writeAnswer } from './answer.ts';

/** `express.raw()` and an empty handler that writes our answer the cheapest way that there is. */
export const listen = () => {
  const app = express();
  app.post('/hook', express.raw({ type: 'application/json' }), (request, response) => {
    collected(request.body as Buffer);
    writeAnswer(request, response);
  });
  return app.listen(0, '127.0.0.1');
};
