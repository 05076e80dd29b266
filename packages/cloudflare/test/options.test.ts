import { describe, expect, it } from '@jest/globals';
import {
  type CreateWith,
  DAY,
  MINUTE,
  numberOptionsTests,
  TEN_YEARS,
} from '@call-webhooks/contract-tests';
import { generateSecret, sign } from '@call-webhooks/core';
import type { Claim } from '@call-webhooks/core/stores';
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
  ready,
  type ObjectNamespace,
  type QueueConsumerOptions,
  type QueuedDelivery,
} from '../src/index.ts';

const claim: Claim = { webhookId: 'w1', replayUntil: 1, key: 'c1', leaseMs: 1, token: 't1' };

/** A namespace whose objects answer a claim with these errors, one after the other. */
function failing(...errors: object[]): { namespace: ObjectNamespace; asked: string[] } {
  const asked: string[] = [];
  const namespace: ObjectNamespace = {
    idFromName: (name) => name,
    get: (name: string) => ({
      admit() {
        asked.push(name);
        const error = errors.shift();
        if (error) throw Object.assign(new Error('reset'), error);
        return { status: 'admitted', attempt: 1 };
      },
    }),
  };
  return { namespace, asked };
}

const store: CreateWith = (options) => durableObjectStore(failing().namespace, options);
const consumer: CreateWith = (options) => {
  const largeBodies = failing().namespace;
  const consume = createQueueConsumer(() => ({
    ...{ largeBodies, deadLetter: () => undefined },
    ...options,
  }));
  return consume({ queue: 'calls', messages: [] }, {});
};

numberOptionsTests([
  ['durableObjectStore', 'rememberFor', 10 * MINUTE, TEN_YEARS, store, DAY],
  ['createQueueConsumer', 'maxRuns', 1, 100, consumer],
  ['createQueueConsumer', 'concurrency', 1, 100, consumer],
]);

describe('durableObjectStore', () => {
  it.each([undefined, {}, { idFromName: () => '' }])('refuses %p', (binding) => {
    expect(() => durableObjectStore(binding as never)).toThrow(/env\.CALL_WEBHOOKS/);
  });

  it('refuses options that it does not have', () => {
    const { namespace } = failing();
    for (const options of [{ name: '' }, { rememberFor: 1 }, { shards: 4 }] as object[])
      expect(() => durableObjectStore(namespace, options)).toThrow(/Invalid options/);
  });

  it('makes a call once more if its object was restarted, and not if it is overloaded', async () => {
    const restarted = failing({ retryable: true });
    const admitted = { status: 'admitted', attempt: 1 };
    expect(await durableObjectStore(restarted.namespace).admit(claim)).toEqual(admitted);
    expect(restarted.asked).toHaveLength(2);
    for (const error of [{}, { retryable: true, overloaded: true }]) {
      const failed = failing(error);
      await expect(durableObjectStore(failed.namespace).admit(claim)).rejects.toThrow('reset');
      expect(failed.asked).toHaveLength(1);
    }
    const twice = failing({ retryable: true }, { retryable: true });
    await expect(durableObjectStore(twice.namespace).admit(claim)).rejects.toThrow('reset');
    expect(twice.asked).toHaveLength(2);
  });

  it('asks the object of the tenant, by the key or else by the webhook id', async () => {
    const { namespace, asked } = failing();
    const store = durableObjectStore(namespace, { name: 'calls' });
    const odd = `tenant:${'x'.repeat(400)}:c1`;
    for (const key of ['c1', 'tenant:only', odd]) await store.admit({ ...claim, key });
    await store.admit({ ...claim, key: 'tenant:a%3Ab:c1', webhookId: 'tenant:a%3Ab:w1' });
    await store.admit({ ...claim, key: undefined, webhookId: 'tenant:acme:w1' });
    expect(asked).toEqual(['calls', 'calls', 'calls', 'calls:tenant:a%3Ab', 'calls:tenant:acme']);
  });

  it('asks the object of the webhook id first, if the key has another one', async () => {
    const { namespace, asked } = failing();
    const store = durableObjectStore(namespace, { name: 'calls' });
    await store.admit({ ...claim, key: 'tenant:acme:c1' });
    expect(asked).toEqual(['calls', 'calls:tenant:acme']);
    const failed = failing({});
    const failure = durableObjectStore(failed.namespace).admit({ ...claim, key: 'tenant:acme:c1' });
    await expect(failure).rejects.toThrow('reset');
    expect(failed.asked).toEqual(['call-webhooks']);
  });
});

describe('the queue', () => {
  const batch = { queue: 'calls', messages: [] };
  const largeBodies = failing().namespace;
  const consume = (options: Omit<QueueConsumerOptions, 'largeBodies'>) =>
    createQueueConsumer(() => ({ largeBodies, ...options }))(batch, {});

  it('refuses a binding that is no queue', async () => {
    expect(() => cloudflareQueue(undefined as never, { largeBodies })).toThrow(/env\.CALLS/);
    await expect(consume({ deadQueue: {} as never })).rejects.toThrow(/deadQueue/);
  });

  it('refuses to start without a place for large bodies, which no retry could deliver', async () => {
    const queue = { send: () => Promise.resolve() };
    for (const options of [undefined, {}, { largeBodies: {} }])
      expect(() => cloudflareQueue(queue, options as never)).toThrow(/env\.CALL_WEBHOOKS/);
    const options = { deadLetter: () => undefined, largeBodies: undefined } as object;
    await expect(consume(options)).rejects.toThrow(/env\.CALL_WEBHOOKS/);
  });

  it('refuses a consumer that would lose dead jobs, and wrong options', async () => {
    await expect(consume({})).rejects.toThrow(/deadLetter or deadQueue/);
    const deadLetter = () => undefined;
    await expect(consume({ deadLetter, maxRuns: 101 })).rejects.toThrow(/maxRuns/);
    await expect(consume({ deadLetter, concurrency: 0 })).rejects.toThrow(/concurrency/);
    await expect(consume({ deadLetter, leaseFor: 1 } as object)).rejects.toThrow(/leaseFor/);
    await expect(consume({ deadLetter })).resolves.toBeUndefined();
  });

  it('answers 503 while the secret is missing', async () => {
    const logger = { warn: () => undefined, error: () => undefined };
    const hook = callWebhooks((env: { SECRET?: string }) => ({ secret: env.SECRET, logger }));
    const body = '{}';
    const headers = await sign({ secret: `whsec_${'A'.repeat(43)}=`, body });
    const request = new Request('http://localhost/hook', { method: 'POST', headers, body });
    const response = await hook(request, {}, { waitUntil: () => undefined });
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { outcome: 'secret-unavailable' },
    ]);
  });
});

describe('a Worker that is called in another way', () => {
  const env = { SECRET: generateSecret() };
  const logger = { warn: () => undefined, error: () => undefined };
  const hook = callWebhooks((bindings: typeof env) => ({ secret: bindings.SECRET, logger }));
  const call = hook as unknown as (...given: unknown[]) => Promise<Response>;
  const request = () => new Request('http://localhost/hook', { method: 'POST', body: '{}' });

  it.each<[string, unknown[], string]>([
    ["Hono's context", [{ req: { raw: request() } }, env], "called with Hono's context"],
    ['no request', [], 'called with undefined'],
    ['the request alone', [request()], 'without the bindings'],
  ])('says so: %s', async (_name, given, message) => {
    await expect(call(...given)).rejects.toMatchObject({
      code: 'invalid-options',
      message: expect.stringContaining(message) as unknown,
    });
  });

  it('needs no context until a handler is late', async () => {
    for (const context of [undefined, {}, { method: 'GET', url: 'x' }])
      expect((await call(request(), env, context)).status).toBe(401);
  });

  it('as a consumer, takes batches alone', async () => {
    const consume = createQueueConsumer(() => ({}) as QueueConsumerOptions);
    for (const batch of [undefined, {}, request()])
      await expect(consume(batch as never, {})).rejects.toThrow('takes a batch of messages');
  });
});

describe('ready', () => {
  const hook = callWebhooks((env: { SECRET: string }) => ({ secret: env.SECRET }));
  const probe = async (env: { SECRET: string }) => {
    const response = await ready(hook)(new Request('http://localhost/ready'), env);
    const headers = Object.fromEntries(response.headers);
    return { status: response.status, headers, body: await response.json() };
  };
  const headers = { 'cache-control': 'no-store', 'content-type': 'application/json' };

  it('responds 200 while a delivery would be accepted, and 503 once the receiver closes', async () => {
    const env = { SECRET: generateSecret() };
    const up = { ok: true, closing: false, store: 'up' };
    expect(await probe(env)).toEqual({ status: 200, headers, body: up });
    await hook.receiver(env).close();
    expect(await probe(env)).toEqual({
      ...{ status: 503, headers },
      body: { ...up, ok: false, closing: true },
    });
  });
});

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
