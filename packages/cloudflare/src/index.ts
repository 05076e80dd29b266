export * from '@call-webhooks/core';
export { callWebhooks, ready, type WorkerContext, type WorkerFetch } from './receiver.ts';
export {
  createQueueConsumer,
  type QueueBatch,
  type QueueConsumer,
  type QueueConsumerOptions,
  type QueueMessage,
} from './consumer.ts';
export { cloudflareQueue, type CloudflareQueueOptions, type QueueProducer } from './queue.ts';
export type { ObjectNamespace } from './namespace.ts';
export { durableObjectStore, type DurableObjectStoreOptions } from './store.ts';
export { CallWebhooksStore, type StoredClaim } from './store-object.ts';
export type { ObjectState, ObjectStorage } from './durable-object.ts';
