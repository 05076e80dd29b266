// Runs what the receivers queued. Run as many as you like. Needs REDIS_URL.
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
  backoff: { first: 100, longest: 2_000 }, // short, for the show: the default is 5 s to 1 hour
  on: {
    'call:started': (event) => {
      say(`${String(event.callId)} started`);
    },
    'call:completed': (event, context) => {
      // Stands for a CRM that is down for a while. The service knows nothing of it.
      if (crmIsDown && context.attempt < 3) throw new Error('the CRM did not answer');
      crmIsDown = false;
      say(`${String(event.callId)} completed, in attempt ${String(context.attempt)}`);
    },
    'call:recording-available': (event) => {
      say(`${event.callId} has a recording`);
    },
  },
  deadLetter: (parked) => {
    say(`given up on ${String(parked.key)}`);
  },
});
await worker.worker.waitUntilReady();
process.send?.({ ready: true });

process.once('SIGTERM', () => void close());
process.once('SIGINT', () => void close());

async function close(): Promise<void> {
  await worker.close(); // what runs may end
  console.log('closed');
  if (process.connected) process.disconnect();
}
