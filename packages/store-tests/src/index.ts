export {
  deadJobsContractTests,
  type DeadJobsUnderTest,
  type OpenedDeadJobs,
} from './dead-jobs-contract-tests.ts';
export { deadLettersContractTests } from './dead-letters-contract-tests.ts';
export type {
  DeadLettersUnderTest,
  OpenedDeadLetters,
  OptionalDeadLettersMember,
} from './dead-letters/under-test.ts';
export type {
  OpenedQueue,
  QueueFeature,
  QueueUnderTest,
  StartedWorker,
  WorkerHandlers,
} from './queue/under-test.ts';
export { completeJobContractTests, queueContractTests } from './queue-contract-tests.ts';
export { queueJobsContractTests, type OpenedQueueJobs } from './queue-jobs-contract-tests.ts';
export type { Refusals } from './refusals.ts';
export type { RunnerFunctions, TestHook, TestRunner } from './runner.ts';
export type {
  Effects,
  OpenedStore,
  OptionalStoreMember,
  StoreUnderTest,
  TransactionUnderTest,
  UnderTest,
} from './store/under-test.ts';
export { completeInContractTests, storeContractTests } from './store-contract-tests.ts';
