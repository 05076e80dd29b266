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
// For the probes of an orchestrator: /health says that the process runs, every other path whether a waiting
// job would be run.
const probe = ready(worker);
const server = createServer((request, response) => {
  if (request.url === '/health') response.end('ok');
  else void probe(request, response);
});
server.listen(workerPort);
logger.info('started');
closeOnSignal(worker, { server, resources: [jobs], logger });
