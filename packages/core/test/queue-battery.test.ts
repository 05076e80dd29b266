import { queueBattery } from '@call-webhooks/contract-tests';
import { arrayQueue } from './support-queue.ts';

queueBattery({
  name: 'an array in memory',
  open: ({ maxAttempts, concurrency }) => Promise.resolve(arrayQueue(maxAttempts, concurrency)),
});
