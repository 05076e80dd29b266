// Runs the queued events. Start as many workers as you like. Needs REDIS_URL.
import { createBullmqWorker } from '@call-webhooks/redis';
import { Worker } from 'bullmq';

let crmIsDown = true;
const say = (what: string) => {
  console.log(what);
  process.send?.({ did: what });
};

const worker = createBullmqWorker({
  Worker,
  queueName: 'calls',
  connection: { url: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379' },
  backoff: { initialDelay: 100, maxDelay: 2_000 }, // short for this demo; the default is 5 s to 1 hour
  on: {
    'call:started': (event) => {
      say(`${String(event.callId)} started`);
    },
    'call:completed': (event, context) => {
      // Simulates a CRM that is down for a while. The service doesn't notice.
      if (crmIsDown && context.attempt < 3) throw new Error('the CRM did not respond');
      crmIsDown = false;
      say(`${String(event.callId)} completed on attempt ${String(context.attempt)}`);
    },
    'call:recording-available': (event) => {
      say(`${event.callId} has a recording`);
    },
  },
  deadLetter: (dead) => {
    say(`moved to the dead letters: ${String(dead.key)}`);
  },
});
await worker.worker.waitUntilReady();
process.send?.({ ready: true });

process.once('SIGTERM', () => void close());
process.once('SIGINT', () => void close());

async function close(): Promise<void> {
  await worker.close(); // waits for running jobs
  console.log('closed');
  if (process.connected) process.disconnect();
}
