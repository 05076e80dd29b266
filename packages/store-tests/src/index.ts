export { deadJobsContractTests } from './dead-jobs-contract-tests.ts';
export { deadLettersContractTests } from './dead-letters-contract-tests.ts';
export type { OpenedQueue, WorkerHandlers } from './queue/under-test.ts';
export { completeJobContractTests, queueContractTests } from './queue-contract-tests.ts';
export type { Refusals } from './refusals.ts';
export type { Effects } from './store/under-test.ts';
export { completeInContractTests, storeContractTests } from './store-contract-tests.ts';
