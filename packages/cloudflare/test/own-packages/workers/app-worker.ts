import {
  callWebhooks,
  CallWebhooksStore,
  cloudflareQueue,
  createQueueConsumer,
  durableObjectStore,
  type HandlerContext,
  type ObjectNamespace,
  type QueueProducer,
} from '../../../src/index.ts';

export { CallWebhooksStore };

/** An object that never answers a claim. */
export class FrozenStore extends CallWebhooksStore {
  override admit(): Promise<never> {
    return new Promise(() => undefined);
  }
}

/** The bindings of this Worker. */
interface Env {
  CALL_WEBHOOK_SECRET: string;
  CALL_WEBHOOKS: ObjectNamespace;
  FROZEN: ObjectNamespace;
  CALLS: QueueProducer;
  DEAD_CALLS: QueueProducer;
  /** The test's server, which is told of each run and says whether it succeeds. */
  CONTROL: string;
}

/** Tells the test of a run. It fails if the test says so. */
async function tell({ CONTROL }: Env, run: string): Promise<void> {
  const { ok } = await fetch(`${CONTROL}/${run}`);
  if (!ok) throw new Error('The test said so.');
}

/** A handler that tells the test. */
const handler =
  (env: Env, from: string) =>
  (event: { callId?: unknown }, { attempt, rawBody }: HandlerContext) => {
    const size = rawBody.length > 1_000 ? `/${String(rawBody.length)}` : '';
    return tell(env, `${from}/${String(event.callId)}/${String(attempt)}${size}`);
  };

const logger = { warn: () => undefined, error: () => undefined };

/** A busy machine may take longer than the default. */
const storeTimeout = 10_000;

const queued = callWebhooks((env: Env) => ({
  logger,
  storeTimeout,
  secret: env.CALL_WEBHOOK_SECRET,
  store: durableObjectStore(env.CALL_WEBHOOKS),
  queue: cloudflareQueue(env.CALLS, { largeBodies: env.CALL_WEBHOOKS }),
}));

const direct = callWebhooks((env: Env) => ({
  logger,
  storeTimeout,
  secret: env.CALL_WEBHOOK_SECRET,
  store: durableObjectStore(env.CALL_WEBHOOKS, { name: 'direct' }),
  ackWithin: 500,
  on: { 'call:completed': handler(env, 'direct') },
}));

const frozen = callWebhooks((env: Env) => ({
  logger,
  secret: env.CALL_WEBHOOK_SECRET,
  store: durableObjectStore(env.FROZEN),
  on: { 'call:completed': handler(env, 'frozen') },
}));

const hooks = new Map([
  ['/direct', direct],
  ['/frozen', frozen],
]);

const consume = createQueueConsumer((env: Env) => ({
  logger,
  maxRuns: 2,
  backoff: { initialDelay: 0, maxDelay: 0 },
  deadQueue: env.DEAD_CALLS,
  largeBodies: env.CALL_WEBHOOKS,
  deadLetter: ({ key }) => tell(env, `letter/${String(key)}`),
  on: { 'call:completed': handler(env, 'queue') },
}));

interface Job {
  key?: string;
}

const keepDead = async (batch: { messages: readonly { body: unknown }[] }, env: Env) => {
  for (const { body } of batch.messages)
    await tell(env, `dead/${typeof body === 'string' ? body : String((body as Job).key)}`);
};

/** Sends a message to the queue as anybody else might. */
async function sendText(request: Request, env: Env): Promise<Response> {
  await env.CALLS.send(await request.text());
  return new Response();
}

export default {
  fetch(...[request, env, context]: Parameters<typeof queued>) {
    const { pathname } = new URL(request.url);
    if (pathname === '/text') return sendText(request, env);
    return (hooks.get(pathname) ?? queued)(request, env, context);
  },
  queue: (...[batch, env]: Parameters<typeof consume>) =>
    batch.queue === 'calls' ? consume(batch, env) : keepDead(batch, env),
};
