// Runs the events that failed for good once more, after the cause is fixed.
import { redrive } from '@call-webhooks/recovery';
import { createApp } from './app.ts';
import { secretsOf } from './config.ts';
import { handlers } from './handlers.ts';
import { openStorage } from './storage.ts';

const secret = secretsOf(process.env);
const storage = openStorage(process.env);
const { app, receiver } = createApp({ secret, storage, on: handlers, level: 'info' });
app.log.info(await redrive({ receiver, deadLetters: storage.deadLetters }), 'redriven');
storage.close();
