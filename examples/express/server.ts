import { closeOnSignal } from '@call-webhooks/express';
import { pino } from 'pino';
import { createApp } from './app.ts';
import { path, port, secretsOf } from './config.ts';
import { handlers } from './handlers.ts';
import { openStorage } from './storage.ts';

const logger = pino();
const secret = secretsOf(process.env);
const storage = await openStorage(process.env);
const { app, receiver } = createApp({ secret, storage, on: handlers, logger });

const server = app.listen(port, (error) => {
  if (error) {
    logger.fatal(error); // such as a port that is in use
    process.exit(1);
  }
  logger.info(`listening at http://127.0.0.1:${port}${path}`);
});
closeOnSignal(receiver, { server, resources: [storage], logger });
