import { describe, expect, it } from '@jest/globals';
import type {
  DurableObjectNamespace,
  ExportedHandler,
  MessageBatch,
  Queue,
  Request as WorkerRequest,
} from '@cloudflare/workers-types';
import {
  callWebhooks,
  CallWebhooksStore,
  cloudflareQueue,
  createQueueConsumer,
  durableObjectStore,
  type QueuedDelivery,
} from '../src/index.ts';

/** The bindings, as `wrangler types` generates them. */
interface Env {
  CALL_WEBHOOK_SECRET: string;
  CALL_WEBHOOKS: DurableObjectNamespace<CallWebhooksStore>;
  UNTYPED: DurableObjectNamespace;
  CALLS: Queue;
  DEAD_CALLS: Queue<QueuedDelivery>;
}

describe('with the types of Workers', () => {
  it('bindings, batches and handlers fit', () => {
    const consume = createQueueConsumer((env: Env) => ({
      deadQueue: env.DEAD_CALLS,
      largeBodies: env.CALL_WEBHOOKS,
      on: {
        'call:completed': (event, context) => {
          const ids: (string | null | undefined)[] = [event.callId, context.key];
          // @ts-expect-error it is called callId
          ids.push(event.calId as string);
        },
      },
    }));
    const hook = callWebhooks((env: Env) => ({
      secret: env.CALL_WEBHOOK_SECRET,
      store: durableObjectStore(env.CALL_WEBHOOKS, { locationHint: 'weur' }),
      queue: cloudflareQueue(env.CALLS, { largeBodies: env.CALL_WEBHOOKS }),
      on: { 'call:completed': (event) => event.callId },
    }));
    // The global types of Workers would make these casts needless; here are those of Node.
    const worker = {
      fetch: (request: WorkerRequest, env: Env, context: { waitUntil(work: unknown): void }) =>
        hook(request as unknown as Request, env, context) as never,
      queue: (batch: MessageBatch, env: Env) => consume(batch, env),
    } satisfies ExportedHandler<Env>;
    const untyped = (env: Env) => durableObjectStore(env.UNTYPED.jurisdiction('eu'));
    expect([typeof worker.queue, typeof untyped, CallWebhooksStore.name]).toEqual([
      'function',
      'function',
      'CallWebhooksStore',
    ]);
  });
});
