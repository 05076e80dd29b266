// Runs the handlers. Run as many as you like.
import { closeOnSignal } from '@call-webhooks/core';
import { pino } from 'pino';
import './config.ts'; // reads .env
import { handlers } from './handlers.ts';
import { openJobs } from './jobs.ts';

const logger = pino({ name: 'worker' });
const jobs = openJobs(process.env);
const worker = jobs.startWorker({ on: handlers, logger });
logger.info('started');
closeOnSignal(worker, { resources: [jobs], logger });
