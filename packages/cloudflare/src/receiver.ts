import {
  WebhookError,
  type Receiver,
  type ReceiverOptions,
  type Store,
  type ExtraEvents,
  type StandardSchema,
} from '@call-webhooks/core';
import type { StoreWithoutCompleteIn } from '@call-webhooks/core/stores';
import {
  createReceiverOnFirstUse,
  isFetchRequest,
  readiness,
  wrongArgument,
} from '@call-webhooks/core/internal';
import { waitUntilOf, webHandler, type WebHandler } from '@call-webhooks/core/web';

const TAKES =
  "This handler takes all three arguments of a Worker's fetch: fetch(request, env, context).";

/** What is used of a Worker's execution context. */
export interface WorkerContext {
  waitUntil(work: Promise<unknown>): void;
}

/** The `fetch` of a Worker, with its receiver. */
export interface WorkerFetch<Env> {
  (request: Request, env: Env, context: WorkerContext): Promise<Response>;
  /** The receiver, for `redrive` and `reconcile`. It is created when it is first needed. */
  readonly receiver: (env: Env) => Receiver;
}

/**
 * Creates the `fetch` handler of a Worker that receives call webhooks. A handler that has not finished
 * by `ackWithin` is kept alive with `waitUntil`.
 * @param options gives the options for a Worker's bindings; called at the first delivery
 * @example
 * const hook = callWebhooks((env: Env) => ({ secret: env.CALL_WEBHOOK_SECRET, on: { … } }));
 * export default { fetch: hook };
 */
export function callWebhooks<
  Env,
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: (env: Env) => ReceiverOptions<Extra, Custom, S>): WorkerFetch<Env> {
  let handle: WebHandler | undefined;
  // A secret that is missing is answered 503, and logged.
  const handlerFor = (env: Env) =>
    (handle ??= webHandler(createReceiverOnFirstUse<Extra, Custom, S>(options(env))()));
  return Object.assign(
    async (request: Request, env: Env, context: WorkerContext) => {
      if (!isFetchRequest(request)) throw wrongArgument(TAKES, request);
      if (typeof env !== 'object' || env === null)
        throw new WebhookError('invalid-options', `${TAKES} It was called without the bindings.`);
      return handlerFor(env)(request, { waitUntil: waitUntilOf(context) });
    },
    { receiver: (env: Env) => handlerFor(env).receiver },
  );
}

/**
 * Creates a function that answers readiness probes in a Worker: 200 if the receiver would accept a
 * delivery now, and 503 otherwise. It answers every request that it gets.
 * @param hook the `fetch` that `callWebhooks` created
 * @example
 * const isReady = ready(hook);
 * export default {
 *   fetch: (request: Request, env: Env, context: WorkerContext) =>
 *     new URL(request.url).pathname === '/ready' ? isReady(request, env) : hook(request, env, context),
 * };
 */
export function ready<Env>(
  hook: Pick<WorkerFetch<Env>, 'receiver'>,
): (request: Request, env: Env) => Promise<Response> {
  return async (_request, env) => {
    const { status, headers, body } = await readiness(hook.receiver(env))();
    return new Response(body, { status, headers });
  };
}
