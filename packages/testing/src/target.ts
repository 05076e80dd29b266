import { Server } from 'node:http';
import { WebhookError, type Receiver } from '@call-webhooks/core';
import { inMemoryExchange, type NodeListener } from './in-memory-exchange.ts';
import type { RawResponse } from './raw-response.ts';
import { describe, isPromise, toRequest, type SignedBytes } from './signed-request.ts';

/**
 * Where an event can be delivered: an app (Express, Fastify, Nest, Koa, Hono), a `Server` of
 * `node:http`, a handler of an adapter, a route handler of Next.js, any function that takes fetch's
 * `Request` or the request and response of `node:http`, or a receiver.
 */
export type Target =
  | Pick<Receiver, 'receive'>
  | { readonly fetch: (request: Request) => unknown }
  | { readonly routing: (...args: never[]) => unknown; ready(): PromiseLike<unknown> }
  | { init(): PromiseLike<unknown>; getHttpAdapter(): { getInstance(): unknown } }
  | { readonly callback: () => (...args: never[]) => unknown }
  | Server
  | ((...args: never[]) => unknown);

/** Where in the target the request is sent, and how a function is called. */
export interface TargetOptions {
  /** The path of the request; `'/hook'` by default. */
  path?: string | undefined;
  /**
   * What a function takes: `'fetch'`, a fetch `Request`, or `'node'`, the request and response of
   * `node:http`. By default, a function with a single parameter takes a `Request`, and one with more
   * parameters is for `node:http`.
   */
  as?: 'fetch' | 'node' | undefined;
}

type Fetch = (request: Request) => unknown;

const WHAT =
  'Pass an app (Express, Fastify, Nest, Koa, Hono), a handler of an adapter, a route handler, or a receiver.';
const wrong = (caller: string, what: string) =>
  new WebhookError('invalid-options', `${caller}: ${what}`);

/**
 * Calls a target with a signed request, without opening a port.
 * @throws WebhookError `invalid-options` if the value is not a target
 */
export async function call(
  caller: string,
  target: unknown,
  signed: SignedBytes,
  { path = '/hook', as }: TargetOptions,
): Promise<RawResponse> {
  if (!path.startsWith('/')) throw wrong(caller, `the path must begin with a slash: '/${path}'.`);
  const throughNode = (listener: Server | NodeListener) => inMemoryExchange(listener, path, signed);
  const throughFetch = (handle: Fetch) => fetchExchange(caller, handle, path, signed);

  if (typeof target === 'function') {
    const isNode = as === undefined ? target.length > 1 : as === 'node';
    return isNode ? throughNode(target as NodeListener) : throughFetch(target as Fetch);
  }
  if (typeof target === 'string' || target instanceof URL)
    throw wrong(
      caller,
      `the target is a URL, and no port is opened here. ${WHAT} For a server that runs, send what signedRequest() returns.`,
    );
  if (typeof target !== 'object' || target === null)
    throw wrong(caller, `the target is ${describe(target)}. ${WHAT}`);
  if (target instanceof Server) return throughNode(target);
  const app = target as Record<string, unknown>;
  const method = (name: string): (() => unknown) | undefined =>
    typeof app[name] === 'function' ? (app[name] as () => unknown).bind(app) : undefined;

  const [init, getHttpAdapter] = [method('init'), method('getHttpAdapter')]; // Nest
  if (init && getHttpAdapter) {
    await startOnce(target, init);
    const adapter = getHttpAdapter() as { getInstance(): unknown };
    return call(caller, adapter.getInstance(), signed, { path });
  }
  const receive = method('receive') as Receiver['receive'] | undefined;
  if (receive) return receive({ method: 'POST', url: path, ...signed });
  const [ready, routing] = [method('ready'), method('routing')]; // Fastify
  if (ready && routing) {
    await ready();
    return throughNode(routing);
  }
  const callback = method('callback'); // Koa
  if (callback) return throughNode(callback() as NodeListener);
  const fetch = method('fetch'); // Hono, Elysia, h3, Workers
  if (fetch) return throughFetch(fetch);
  if (isPromise(target)) throw wrong(caller, 'the target is a promise: await it.');
  const name = target.constructor.name;
  throw wrong(caller, `the target is an object that cannot take requests (${name}). ${WHAT}`);
}

const started = new WeakMap<object, unknown>();

/** Starts a Nest app once. `init()` itself may be called again only after it has ended. */
async function startOnce(app: object, init: () => unknown): Promise<void> {
  if (!started.has(app)) started.set(app, init());
  await started.get(app);
}

async function fetchExchange(
  caller: string,
  handle: Fetch,
  path: string,
  signed: SignedBytes,
): Promise<RawResponse> {
  const response: unknown = await handle(toRequest(signed, `http://localhost${path}`));
  if (response instanceof Response) return { status: response.status, body: await response.text() };
  throw wrong(
    caller,
    `the function returned ${describe(response)} instead of a Response. If it is for node:http, pass { as: 'node' }.`,
  );
}
