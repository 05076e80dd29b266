import {
  cloudflareQueue,
  type ObjectNamespace,
  type QueueBatch,
  type QueueProducer,
} from '../../../src/index.ts';

export { CallWebhooksStore } from '../../../src/index.ts';

/** The bindings of this Worker. */
interface Env {
  CALLS: QueueProducer;
  DEAD_CALLS: QueueProducer;
  BODIES: ObjectNamespace;
  /** Where batches are consumed: in the test's own process. */
  CONSUMER: string;
}

/** What the consumer called for a message: `ack()`, or `retry()` with these options. */
export type Decision = 'ack' | { delaySeconds?: number };

interface Call {
  name: string;
  method: string;
  args: unknown[];
}

async function callObject({ BODIES }: Env, { name, method, args }: Call): Promise<object> {
  const object = BODIES.get(BODIES.idFromName(name)) as Record<
    string,
    (...args: unknown[]) => Promise<unknown>
  >;
  return { value: await object[method]?.(...args) };
}

export default {
  /** Enqueues a delivery, sends a message to the queue of dead jobs, or calls an object. */
  async fetch(request: Request, env: Env): Promise<Response> {
    const message = await request.json();
    const { pathname } = new URL(request.url);
    try {
      if (pathname === '/dead') await env.DEAD_CALLS.send(message);
      else if (pathname === '/object') return Response.json(await callObject(env, message as Call));
      else await cloudflareQueue(env.CALLS, { largeBodies: env.BODIES }).enqueue(message as never);
      return Response.json({});
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
  },

  /** Has a batch consumed in the test's process, and tells the queue what came of each message. */
  async queue({ queue, messages }: QueueBatch, env: Env): Promise<void> {
    const plain = messages.map(({ id, body, attempts }) => ({ id, body, attempts }));
    const init = { method: 'POST', body: JSON.stringify({ queue, messages: plain }) };
    const response = await fetch(env.CONSUMER, init);
    const decisions = (await response.json()) as Record<string, Decision>;
    for (const message of messages) {
      const decision = decisions[message.id];
      if (decision === 'ack') message.ack();
      else message.retry(decision);
    }
  },
};
