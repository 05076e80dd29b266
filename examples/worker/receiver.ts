// Responds 202 once a delivery is queued. Run as many as you like.
import { pino } from 'pino';
import { createApp } from './app.ts';
import { path, port, secretsOf } from './config.ts';
import { openJobs } from './jobs.ts';

const logger = pino({ name: 'receiver' });
const secret = secretsOf(process.env);
const jobs = openJobs(process.env);
const { app, receiver } = createApp({ secret, jobs, logger });

const server = app.listen(port, (error) => {
  if (error)
    fail(error); // such as a port that is in use
  else logger.info(`listening at http://127.0.0.1:${port}${path}`);
});

async function shutDown() {
  setTimeout(() => process.exit(1), 20_000).unref(); // if something does not end
  await receiver.close(); // new deliveries get 503
  await new Promise((resolve) => server.close(resolve));
  await jobs.close();
  logger.info('closed');
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void shutDown().catch(fail));

function fail(error: unknown) {
  logger.fatal(error);
  process.exit(1);
}
