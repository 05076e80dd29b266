import { Webhook } from 'standardwebhooks';
import { SECRET } from '../sending/schemes.ts';
import { handle } from './answer.ts';
import { rawApp, started } from './fastify-app.ts';

export const listen = () => {
  const webhook = new Webhook(SECRET);
  return started(
    rawApp((body, headers) => {
      handle(webhook.verify(body, headers));
    }),
  );
};
