import { json } from 'node:stream/consumers';
import { serveLocally } from '@call-webhooks/contract-tests';
import type { Queue, QueuedDelivery } from '@call-webhooks/core';
import { Miniflare } from 'miniflare';
import type { ObjectNamespace, QueueBatch, QueueConsumer } from '../../src/index.ts';
import { bundled, COMPATIBILITY_DATE, postJson } from './support.ts';
import type { Decision } from './workers/queue-worker.ts';

type PlainBatch = { queue: string; messages: { id: string; body: unknown; attempts: number }[] };

/** Queues in workerd, whose batches are consumed in this process. */
export interface QueueBridge {
  /** Sends to the queue with `cloudflareQueue`. */
  readonly queue: Queue;
  /** Sends to the queue of dead jobs. */
  readonly deadQueue: { send(message: unknown): Promise<void> };
  /** The objects that keep large bodies. */
  readonly largeBodies: ObjectNamespace;
  /** The messages in the queue of dead jobs. */
  readonly dead: QueuedDelivery[];
  /** Consumes the batches from now on. Until then they wait. */
  consume(consumer: QueueConsumer<undefined>): void;
  close(): Promise<void>;
}

let code: Promise<string> | undefined;

export async function startQueueBridge(): Promise<QueueBridge> {
  const dead: QueuedDelivery[] = [];
  let consume!: (consumer: QueueConsumer<undefined>) => void;
  const started = new Promise<QueueConsumer<undefined>>((resolve) => (consume = resolve));

  async function decide({ queue, messages }: PlainBatch): Promise<Record<string, Decision>> {
    const decisions: Record<string, Decision> = {};
    const batch: QueueBatch = {
      queue,
      messages: messages.map((message) => ({
        ...message,
        ack: () => void (decisions[message.id] = 'ack'),
        retry: (options = {}) => void (decisions[message.id] = options),
      })),
    };
    if (queue === 'calls') await (await started)(batch, undefined);
    else
      for (const { body, ack } of batch.messages) {
        dead.push(body as QueuedDelivery);
        ack();
      }
    return decisions;
  }

  const consumer = await serveLocally((request, response) => {
    response.setHeader('connection', 'close'); // workerd must not use it when it has just ended
    void json(request)
      .then((batch) => decide(batch as PlainBatch))
      .then((decisions) => response.end(JSON.stringify(decisions)));
  });
  const consumed = { maxBatchSize: 10, maxBatchTimeout: 0, maxRetries: 100 };
  const miniflare = new Miniflare({
    modules: [
      {
        type: 'ESModule',
        path: 'queue-worker.mjs',
        contents: await (code ??= bundled('queue-worker')),
      },
    ],
    compatibilityDate: COMPATIBILITY_DATE,
    bindings: { CONSUMER: consumer.origin },
    durableObjects: { BODIES: { className: 'CallWebhooksStore', useSQLite: true } },
    queueProducers: { CALLS: 'calls', DEAD_CALLS: 'dead-calls' },
    queueConsumers: { calls: consumed, 'dead-calls': consumed },
  });
  const url = await miniflare.ready;
  const send = async (path: string, message: unknown) => {
    return (await postJson(new URL(path, url).href, message)) as { value?: unknown };
  };
  return {
    queue: {
      async enqueue(delivery) {
        await send('/', delivery);
      },
    },
    deadQueue: {
      async send(message) {
        await send('/dead', message);
      },
    },
    largeBodies: {
      idFromName: (name) => name,
      get(name: string) {
        const call =
          (method: string) =>
          async (...args: unknown[]) =>
            (await send('/object', { name, method, args })).value;
        return { loadBody: call('loadBody'), dropBody: call('dropBody') };
      },
    },
    dead,
    consume,
    async close() {
      await miniflare.dispose();
      await consumer.close();
    },
  };
}
