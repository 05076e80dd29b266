// Runs the events that failed for good once more, after the cause is fixed.
import { redrive } from '@call-webhooks/recovery';
import { pino } from 'pino';
import { createApp } from './app.ts';
import { secretsOf } from './config.ts';
import { handlers } from './handlers.ts';
import { openStorage } from './storage.ts';

const logger = pino();
const secret = secretsOf(process.env);
const storage = await openStorage(process.env);
const { receiver } = createApp({ secret, storage, on: handlers, logger });
logger.info(await redrive({ receiver, deadLetters: storage.deadLetters }), 'redriven');
await storage.close();
