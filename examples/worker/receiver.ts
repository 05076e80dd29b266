// Responds 202 once a delivery is queued. Run as many as you like.
import { closeOnSignal } from '@call-webhooks/express';
import { pino } from 'pino';
import { createApp } from './app.ts';
import { path, port, secretsOf } from './config.ts';
import { openJobs } from './jobs.ts';

const logger = pino({ name: 'receiver' });
const secret = secretsOf(process.env);
const jobs = openJobs(process.env);
const { app, receiver } = createApp({ secret, jobs, logger });

const server = app.listen(port, (error) => {
  if (error) {
    logger.fatal(error); // such as a port that is in use
    process.exit(1);
  }
  logger.info(`listening at http://127.0.0.1:${port}${path}`);
});
closeOnSignal(receiver, { server, resources: [jobs], logger });
