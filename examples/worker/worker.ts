// Runs the handlers. Run as many as you like.
import { pino } from 'pino';
import './config.ts'; // reads .env
import { handlers } from './handlers.ts';
import { openJobs } from './jobs.ts';

const logger = pino({ name: 'worker' });
const jobs = openJobs(process.env);
const worker = jobs.startWorker({ on: handlers, logger });
logger.info('started');

async function shutDown() {
  await worker.close(); // running handlers get 10 seconds; then their jobs are given back
  await jobs.close();
  logger.info('closed');
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    setTimeout(() => process.exit(1), 20_000).unref(); // if something does not end
    shutDown().catch((error: unknown) => {
      logger.fatal(error);
      process.exit(1);
    });
  });
