// Answers readiness probes in the form that each framework uses.
import { invalidOptions } from './errors.ts';
import type { Health } from './health.ts';
import type { WorkerHealth } from './worker/worker-health.ts';

/** A receiver or a worker, or a handler that has one as its property `receiver`. */
export type OrItsHandler<Part> = Part | { readonly receiver: Part };

export const partOf = <Part extends object>(given: OrItsHandler<Part>): Part =>
  'receiver' in given ? given.receiver : given;

/** What `ready` checks: a receiver, a handler that has one, or a queue worker. */
export type HealthSource = OrItsHandler<{ health(): Promise<Health | WorkerHealth> }>;

/** A handler for readiness probes. It can be mounted in each of these forms. */
export interface ReadyHandler {
  /** For Express, Nest, the Pages Router of Next.js, `node:http`, and Fastify (with its reply). */
  (request: unknown, response: NodeResponse | FastifyReply): Promise<void>;
  /**
   * For frameworks that use fetch's `Response`: called with a `Request`, or with a context that has
   * one.
   */
  (request?: unknown): Promise<Response>;
}

interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): { end(body: string): unknown };
}

interface FastifyReply {
  code(status: number): FastifyReply;
  headers(headers: Record<string, string>): FastifyReply;
  send(body: string): unknown;
}

/** The response to a readiness probe. */
export interface ReadyResponse {
  readonly status: 200 | 503;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * Creates a handler for readiness probes. It returns 200 if the receiver would accept a delivery now,
 * or if the worker would run a job, and 503 otherwise. The body names the part that is down, but not
 * the reason, since anyone may call the endpoint; `health()` of the receiver or the worker has the
 * reason.
 * @param source a receiver, a handler that has one, or a queue worker
 * @throws WebhookError `invalid-options` if `source` is none of these. The handler rejects with the
 *   same code if the framework calls it in a form that it does not support: Koa, AWS Lambda and
 *   Cloudflare have their own `ready` in their adapters.
 * @example
 * app.get('/ready', ready(hook)); // Express, Fastify, Hono
 * export const GET = ready(POST); // Next.js, SvelteKit
 * createServer(ready(worker)).listen(3001); // a process that runs a queue worker
 */
export function ready(source: HealthSource): ReadyHandler {
  const respond = readiness(source);
  const handle = async (request?: unknown, response?: unknown) => {
    // Before anything else: Next prerenders a route that reads nothing of its request.
    const write = writerFor(request, response);
    return write(await respond());
  };
  return handle as ReadyHandler;
}

/**
 * The response of `ready`, for adapters that send it in another form.
 * @throws WebhookError `invalid-options` if `given` has no health
 */
export function readiness(given: HealthSource): () => Promise<ReadyResponse> {
  const object = Object(given) as { health?: unknown };
  if (!('receiver' in object) && typeof object.health !== 'function')
    throw invalidOptions(
      'ready: expected a receiver, a handler that has one, such as the result of callWebhooks, or a queue worker.',
    );
  return async () => {
    const health = await partOf(given).health();
    return {
      status: health.ok ? 200 : 503,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
      body: JSON.stringify(statesOf(health)),
    };
  };
}

/** What unauthenticated clients may see. */
function statesOf(health: Health | WorkerHealth): object {
  const { ok, closing, queue } = health;
  if (!('store' in health)) return { ok, closing, paused: health.paused, queue: queue?.status };
  const { overloaded, store, secrets } = health;
  const states = { store: store.status, queue: queue?.status, secrets: secrets?.status };
  return { ok, closing, overloaded, ...states };
}

type Part = Record<string, unknown> | undefined;
const has = (object: Part, ...methods: string[]) =>
  methods.every((name) => typeof object?.[name] === 'function');

/** @throws WebhookError `invalid-options` for a form that no supported framework uses */
function writerFor(request: unknown, response: unknown): (answer: ReadyResponse) => unknown {
  const asked = Object(response) as NonNullable<Part>;
  if (has(asked, 'writeHead'))
    return ({ status, headers, body }) => {
      (response as NodeResponse).writeHead(status, headers).end(body);
    };
  // Its handlers may return a Response as well, but not where Nest calls them.
  if (has(asked, 'code', 'headers', 'send'))
    return ({ status, headers, body }) =>
      (response as FastifyReply).code(status).headers(headers).send(body);
  if (request === undefined || isOfFetch(request))
    return ({ status, headers, body }) => new Response(body, { status, headers });
  throw invalidOptions(
    "ready: the framework called it with neither fetch's Request, nor a context that has one, nor the request and response of node:http or Fastify. For Koa, AWS Lambda and Cloudflare, import ready from @call-webhooks/adapters/koa, @call-webhooks/adapters/lambda or @call-webhooks/cloudflare.",
  );
}

/** Fetch's `Request`, or a context with one: of SvelteKit, Astro, React Router, Elysia, h3 or Hono. */
function isOfFetch(given: unknown): boolean {
  const context = Object(given) as { request?: Part; req?: Part };
  const { request, req } = context;
  return [context as Part, request, req, req?.['raw'] as Part].some((one) =>
    has(one?.['headers'] as Part, 'get'),
  );
}
