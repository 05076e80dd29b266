export { adapterContractTests } from './adapter-contract-tests.ts';
export type { AdapterUnderTest, Host, Mounted } from './adapter/under-test.ts';
export { completeInContractTests, storeContractTests } from './store-contract-tests.ts';
export type {
  CompletingStoreUnderTest,
  Effects,
  OpenedStore,
  StoreUnderTest,
  TransactionUnderTest,
} from './store/under-test.ts';
export { deadLettersContractTests } from './dead-letters-contract-tests.ts';
export { deadLetter } from './dead-letters/under-test.ts';
export type { DeadLettersUnderTest, OpenedDeadLetters } from './dead-letters/under-test.ts';
export { completeJobContractTests, queueContractTests } from './queue-contract-tests.ts';
export { deadJobsContractTests, type DeadJobsUnderTest } from './dead-jobs-contract-tests.ts';
export { queued, queuedCall } from './queue/deliveries.ts';
export type { WorkerHandlers, OpenedQueue, QueueUnderTest } from './queue/under-test.ts';
export { callBody, recordingBody, startSender, type Sender } from './sender.ts';
export { collectingLogger, type LogEntry } from './collecting-logger.ts';
export { deferred } from './deferred.ts';
export { exchange, requestBytes, signedDelivery } from './raw-socket.ts';
export { serveLocally } from './serve-locally.ts';
export { postgresBinaries, startPostgres, type PostgresServer } from './servers/postgres.ts';
export { routeHandlerServer, type RouteHandler } from './route-handler-server.ts';
export { unique } from './unique.ts';
export { waitFor } from './wait-for.ts';
export { describeWithProgram } from './describe-with-program.ts';
export { findProgram } from './find-program.ts';
export { installFolder } from './install-folder.ts';
export { freePort } from './servers/free-port.ts';
export { redisServer, type RedisServer } from './servers/redis-server.ts';
export { runSample, type RunningSample } from './readme-sample.ts';
