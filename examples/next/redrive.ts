// Runs the events that failed for good once more, after the cause is fixed.
import './load-env.js';
import { redrive } from '@call-webhooks/recovery';
import { POST } from './app/hook/route.ts';
import { close, deadLetters } from './storage.ts';

console.log('redriven', await redrive({ receiver: POST.receiver, deadLetters }));
await close();
