import { closeOnSignal } from '@call-webhooks/fastify';
import { createApp } from './app.ts';
import { path, port, secretsOf } from './config.ts';
import { handlers } from './handlers.ts';
import { openStorage } from './storage.ts';

const secret = secretsOf(process.env);
const storage = openStorage(process.env);
const { app, receiver } = createApp({ secret, storage, on: handlers, level: 'info' });

closeOnSignal(receiver, { server: app, resources: [storage], logger: app.log });
try {
  await app.listen({ port, host: '0.0.0.0' });
  app.log.info(`listening at http://127.0.0.1:${port}${path}`);
} catch (error) {
  app.log.fatal(error); // such as a port that is in use
  process.exit(1);
}
