// Runs the handlers. Run as many as you like.
import { createServer } from 'node:http';
import { closeOnSignal, ready } from '@call-webhooks/core';
import { pino } from 'pino';
import { workerPort } from './config.ts';
import { handlers } from './handlers.ts';
import { openJobs } from './jobs.ts';

const logger = pino({ name: 'worker' });
const jobs = openJobs(process.env);
const worker = jobs.startWorker({ on: handlers, logger });
// Whether a job that waits would be run, for a probe. Nobody else needs this port.
const probe = ready(worker);
const server = createServer((request, response) => void probe(request, response));
server.listen(workerPort);
logger.info('started');
closeOnSignal(worker, { server, resources: [jobs], logger });
