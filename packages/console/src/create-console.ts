import { callHook, waitAtMost } from '@call-webhooks/core/internal';
import { HealthChecks } from './api/health-checks.ts';
import type { ConsoleParts } from './api/context.ts';
import { handleRequest } from './handle-request.ts';
import { CsrfTokens } from './http/csrf.ts';
import { logDone } from './log-lines.ts';
import { fastifyMount, type FastifyMount } from './mount/fastify.ts';
import { fetchMount, type FetchMount } from './mount/fetch.ts';
import { nodeMount, type NodeMount } from './mount/node.ts';
import {
  resolveOptions,
  type ConsoleAction,
  type ConsoleOptions,
  type ConsoleSettings,
} from './options.ts';
import { DeadLetterReader } from './recovery/dead-letter-reader.ts';
import { ReconcileRuns } from './recovery/reconcile-runs.ts';
import { RedriveTasks } from './recovery/redrive-tasks.ts';

/** A console, in a form for each framework. It is a handler for Express and `node:http` itself. */
export interface Console extends NodeMount {
  /** For Next's route handlers and all servers of fetch's `Request`. It needs the option `path`. */
  readonly fetch: FetchMount;
  /** A plugin: `app.register(console.fastify, { prefix: '/ops/webhooks' })`. */
  readonly fastify: FastifyMount;
  /** Stops counting, begins no further letter or call, and waits up to a second for those that run. */
  close(): Promise<void>;
}

/**
 * Creates the console of a receiver: a page, and the API that it uses. It counts from now on.
 * @throws WebhookError `invalid-options`, above all without `authorize`
 * @example
 * const hook = callWebhooks({ secret, on, deadLetter: deadLetters });
 * app.all('/hook', hook);
 * app.use('/ops/webhooks', createConsole({ receiver: hook.receiver, deadLetters, authorize }));
 */
export function createConsole<Raw = never>(options: ConsoleOptions<Raw>): Console {
  const settings = resolveOptions(options);
  const { receiver, deadLetters, redrive, reconcile, logger, now, stats, path } = settings;
  const parts: ConsoleParts = {
    settings,
    tokens: new CsrfTokens(settings.csrfKey, now),
    health: new HealthChecks(receiver, now),
    letters: deadLetters && new DeadLetterReader(deadLetters, logger),
    redrives: deadLetters && new RedriveTasks(receiver, deadLetters, redrive, now),
    reconciles: reconcile && new ReconcileRuns(receiver, reconcile, now),
    log: (action) => {
      logAction(settings, action);
    },
  };
  const handle = handleRequest.bind(undefined, parts);
  const node = nodeMount(handle, path);
  return Object.assign(node, {
    fetch: fetchMount(handle, path),
    fastify: fastifyMount(handle),
    async close() {
      await waitAtMost(1_000, Promise.all([parts.redrives?.close(), parts.reconciles?.close()]));
      await stats.close();
    },
  });
}

const DONE: Record<ConsoleAction['action'], string> = {
  reveal: 'read the body of a dead letter',
  remove: 'removed a dead letter',
  redrive: 'started a redrive',
  'abort-redrive': 'stopped the redrive',
  reconcile: 'started a reconcile',
  'abort-reconcile': 'stopped the reconcile',
};

function logAction({ logger, onAction }: ConsoleSettings, action: ConsoleAction): void {
  logDone(logger, action, `${action.by ?? 'somebody'} ${DONE[action.action]}`);
  if (onAction) callHook(onAction, { ...action });
}
