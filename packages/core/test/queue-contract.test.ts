import { queueContractTests } from '@call-webhooks/contract-tests';
import { arrayQueue } from './array-queue.ts';

queueContractTests({
  name: 'an array in memory',
  open: ({ maxRuns, concurrency }) => Promise.resolve(arrayQueue(maxRuns, concurrency)),
});
