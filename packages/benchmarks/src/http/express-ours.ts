import express from 'express';
import { callWebhooks } from '@call-webhooks/express';
import { OPTIONS } from './receiver-options.ts';

export const listen = () => {
  const app = express();
  app.post('/hook', callWebhooks(OPTIONS));
  return app.listen(0, '127.0.0.1');
};
