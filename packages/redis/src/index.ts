export { redisStore, type RedisStoreOptions } from './redis-store.ts';
export { redisDeadLetters, type RedisDeadLettersOptions } from './redis-dead-letters.ts';
export type {
  BunRedisClient,
  GlideClient,
  IoredisClient,
  NodeRedisClient,
  RedisClient,
  UpstashClient,
} from './clients.ts';
export { bullmqDeadJobs, type BullmqFailedJob, type BullmqFailedJobs } from './bullmq-dead-jobs.ts';
export { bullmqJobs, type BullmqAllJobs } from './bullmq-jobs.ts';
export { bullmqQueue, type BullmqQueueLike, type BullmqQueueOptions } from './bullmq-queue.ts';
export {
  createBullmqWorker,
  type BullmqWorker,
  type BullmqWorkerLike,
  type BullmqWorkerOptions,
} from './bullmq-worker.ts';
export type { BackoffOptions } from '@call-webhooks/core/stores';
