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
  if (error)
    fail(error); // such as a port that is in use
  else logger.info(`listening at http://127.0.0.1:${port}${path}`);
});

async function shutDown() {
  setTimeout(() => process.exit(1), 20_000).unref(); // if something does not end
  await receiver.close(); // running handlers get 10 seconds; new deliveries get 503
  await new Promise((resolve) => server.close(resolve));
  await storage.close();
  logger.info('closed');
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void shutDown().catch(fail));

function fail(error: unknown) {
  logger.fatal(error);
  process.exit(1);
}
