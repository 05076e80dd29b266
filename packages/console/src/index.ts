import { callHook, waitAtMost } from '@call-webhooks/core/internal';
import { Api } from './api.ts';
import { handleRequest } from './handle-request.ts';
import { RefusalLog } from './http/refusals.ts';
import {
  fastifyMount,
  fetchMount,
  nodeMount,
  type FastifyMount,
  type FetchMount,
  type NodeMount,
} from './mounts.ts';
import { resolveOptions, type ConsoleAction, type ConsoleOptions } from './options.ts';
import { logDone } from './store-calls.ts';

export type {
  ConsoleAction,
  ConsoleOptions,
  ConsoleReceiver,
  ConsoleRedrive,
  ConsoleReconcile,
} from './options.ts';
export {
  basicAuth,
  type Authorize,
  type Challenge,
  type Decision,
  type Operator,
} from './http/operator.ts';
export type { ConsoleRequest } from './http/request.ts';
export type { FastifyMount, FastifyScope, FetchMount, NodeMount } from './mounts.ts';

/**
 * A console, which can be mounted in every framework. The object itself is a handler for Express and
 * `node:http`.
 */
export interface Console extends NodeMount {
  /** A handler for Next.js routes and other servers that use fetch's `Request`. It requires the `path` option. */
  readonly fetch: FetchMount;
  /** A Fastify plugin: `app.register(console.fastify, { prefix: '/ops/webhooks' })`. */
  readonly fastify: FastifyMount;
  /**
   * Stops the tasks that run in this process: none of them starts another dead letter or call. Waits up to
   * 1,000 ms for the ones that are running.
   */
  close(): Promise<void>;
}

/**
 * Creates the console of a receiver: a web page, and the JSON API that the page uses. It shows what all
 * processes have written to the receiver's store, and keeps no state itself.
 * @throws WebhookError `invalid-options` if an option is missing or invalid. `authorize` is required.
 * @example
 * const hook = callWebhooks({ secret, on, store, deadLetter: deadLetters });
 * app.all('/hook', hook);
 * app.use('/ops/webhooks', createConsole({ receiver: hook.receiver, deadLetters, authorize }));
 */
export function createConsole<Raw = never>(options: ConsoleOptions<Raw>): Console {
  const settings = resolveOptions(options);
  const { logger, onAction, path } = settings;
  const api = new Api(settings, (action) => {
    const { by, cause, letterId } = action;
    const which = cause === undefined ? '' : ` with the cause “${cause}”`;
    const done = letterId === undefined && action.action === 'remove' ? MANY : DONE[action.action];
    logDone(logger, action, `${by ?? 'an operator'} ${done}${which}`);
    if (onAction) callHook(onAction, { ...action });
  });
  const refusals = new RefusalLog(logger);
  const handle = handleRequest.bind(undefined, settings, api, refusals);
  return Object.assign(nodeMount(handle, path), {
    fetch: fetchMount(handle, path),
    fastify: fastifyMount(handle),
    close: () => {
      refusals.close();
      return waitAtMost(1_000, api.close());
    },
  });
}

const MANY = 'started to remove dead letters';

const DONE: Record<ConsoleAction['action'], string> = {
  reveal: 'read the body of a dead letter',
  search: 'searched the dead letters for a person',
  remove: 'removed a dead letter',
  'abort-removal': 'stopped the removal of dead letters',
  erase: "started to erase a person's data",
  'abort-erasure': "stopped the erasure of a person's data",
  redrive: 'started a redrive',
  'abort-redrive': 'stopped the redrive',
  reconcile: 'started a reconcile run',
  'abort-reconcile': 'stopped the reconcile run',
};
