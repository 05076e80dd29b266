import { Webhook } from 'standardwebhooks';
import { SECRET } from '../sending/schemes.ts';
import { handleOnce } from './duties.ts';
import { rawApp, started } from './fastify-app.ts';

export const listen = () => {
  const webhook = new Webhook(SECRET);
  return started(
    rawApp((body, headers) => {
      handleOnce(headers['webhook-id'] as string, webhook.verify(body, headers));
    }),
  );
};
