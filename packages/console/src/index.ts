export { createConsole, type Console } from './create-console.ts';
export type { ConsoleAction, ConsoleOptions, ConsoleReceiver } from './options.ts';
export { basicAuth } from './http/basic-auth.ts';
export type { Authorize, Challenge, Decision, Operator } from './http/operator.ts';
export type { ConsoleRequest } from './http/console-request.ts';
export type { ConsoleReconcile } from './recovery/reconcile-runs.ts';
export type { ConsoleRedrive } from './recovery/redrive-tasks.ts';
export {
  consoleStats,
  type ConsoleStats,
  type ConsoleStatsOptions,
} from './stats/console-stats.ts';
export type { StatsStore } from './stats/slot.ts';
export type { FastifyMount, FastifyScope } from './mount/fastify.ts';
export type { FetchMount } from './mount/fetch.ts';
export type { NodeMount } from './mount/node.ts';
