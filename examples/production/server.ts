import { createClient } from '@call-webhooks/client';
import { closeOnSignal } from '@call-webhooks/express';
import { startReconciler } from '@call-webhooks/recovery';
import { pino } from 'pino';
import { createApp } from './app.ts';
import { config } from './config.ts';
import { handlersFor } from './handlers.ts';
import { openStorage } from './storage.ts';
import { startTelemetry } from './telemetry.ts';

const logger = pino();
const storage = await openStorage(config.databaseUrl);
const telemetry = await startTelemetry(config.metricsPort, storage);
const client = createClient({ baseUrl: config.serviceUrl, apiToken: config.apiToken });

const { app, receiver } = createApp({
  secret: config.secrets,
  storage,
  on: handlersFor(storage.pool),
  logger,
  consolePassword: config.consolePassword,
  client,
  version: config.version,
  around: telemetry.around,
});

// Every process starts one. Those that share a store take turns.
const reconciler = startReconciler({ client, receiver, logger });

const server = app.listen(config.port, (error) => {
  if (error) {
    logger.fatal(error); // such as a port that is in use
    process.exit(1);
  }
  logger.info(`listening at http://127.0.0.1:${config.port}/hook`);
});

// In this order: running handlers finish, the server closes, then everything that they used.
closeOnSignal(receiver, {
  server,
  resources: [reconciler, telemetry, storage],
  delayMs: 2_000, // for a load balancer that asks /ready every second
  logger,
});
