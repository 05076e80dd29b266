import { randomBytes } from 'node:crypto';
import { WebhookError, type DeadLetters, type Logger, type Receiver } from '@call-webhooks/core';
import type { DeadJobs } from '@call-webhooks/core/stores';
import { checkOptions, docsUrl, option } from '@call-webhooks/core/internal';
import type { Authorize } from './http/operator.ts';
import { reconcileRules, redriveRules } from './recovery/option-rules.ts';
import type { ConsoleReconcile } from './recovery/reconcile-runs.ts';
import type { ConsoleRedrive } from './recovery/redrive-tasks.ts';
import { ProcessStats, type ConsoleStats } from './stats/console-stats.ts';

/** The part of a receiver that the console uses. */
export type ConsoleReceiver = Pick<Receiver, 'health' | 'deliver' | 'store'>;

/** What somebody did in the console. */
export interface ConsoleAction {
  action: 'reveal' | 'remove' | 'redrive' | 'abort-redrive' | 'reconcile' | 'abort-reconcile';
  /** The name that `authorize` gave. */
  by: string | null;
  /** The dead letter that was revealed or removed. */
  letterId?: string;
  /** How many letters were named; absent if all that match a filter are meant. */
  letters?: number;
  dryRun?: boolean;
}

/** Options of `createConsole`. */
export interface ConsoleOptions<Raw = never> {
  /** The receiver, such as `hook.receiver`. It tells its health and runs what is redriven. */
  receiver: ConsoleReceiver;
  /**
   * Whether a request may see the console, and who it is. Called for every request.
   * @example authorize: ({ raw }) => raw.user?.isAdmin && { name: raw.user.name }
   */
  authorize: Authorize<Raw>;
  /** The dead letters of the receiver, or the dead jobs of its queue. */
  deadLetters?: DeadLetters | DeadJobs | undefined;
  /** How dead letters are redriven: `defaultTenant`, `concurrency`, `leaseFor`. */
  redrive?: ConsoleRedrive | undefined;
  /** Asks the service for calls whose events never came: `{ client }`, and all options of `reconcile`. */
  reconcile?: ConsoleReconcile | undefined;
  /** Statistics that processes share: `consoleStats({ store })`. By default, this process alone. */
  stats?: ConsoleStats | undefined;
  /** Nobody can change anything or see personal data; `false` by default. */
  readOnly?: boolean | undefined;
  /**
   * Where the console is mounted: needed for `console.fetch` and for `node:http`. Express and Fastify know
   * it themselves.
   */
  path?: string | undefined;
  /** Such as `'https://ops.example.com'`: needed if a proxy changes the `Host` of requests. */
  origin?: string | undefined;
  /**
   * At least 32 random characters, the same in all processes: needed if the requests of one browser go to
   * different processes. By default, each process makes its own.
   */
  csrfKey?: string | undefined;
  /** Gets a line for all that is changed or revealed; `console` by default. */
  logger?: Logger | undefined;
  /** Called with all that is changed or revealed, for an audit log. What it throws is ignored. */
  onAction?: ((action: ConsoleAction) => unknown) | undefined;
  /** The clock; milliseconds since the epoch, `Date.now` by default. */
  now?: (() => number) | undefined;
}

const AUTHORIZE =
  "authorize is missing. Decide who may see the console: authorize: (request) => true or { name: 'Ada' } for those who may, and false for all others.";

const HANDLER =
  'receiver: this is the handler of an adapter. Pass the receiver that it has: receiver: hook.receiver.';

/** What an adapter made: it has the receiver that is wanted here. */
const isHandler = (given: unknown): boolean =>
  Object(given) === given && !('deliver' in (given as object)) && 'receiver' in (given as object);

const rules = () => ({
  receiver: option.object<ConsoleReceiver>('health', 'deliver'),
  authorize: option.function<Authorize>(),
  deadLetters: option.optional(
    option.object<DeadLetters | DeadJobs>('list', 'get', 'remove', 'count'),
  ),
  redrive: option.default(option.object<ConsoleRedrive>(), {}),
  reconcile: option.optional(option.object<ConsoleReconcile>()),
  stats: option.optional(option.object<ProcessStats>('flush', 'close', 'view')),
  readOnly: option.default(option.boolean(), false),
  path: option.optional(option.path()),
  origin: option.optional(
    option.text(/^https?:\/\/[^/?#\s]+$/, "expected an origin, such as 'https://ops.example.com'"),
  ),
  csrfKey: option.optional(option.text(/^.{32,}$/s, 'expected at least 32 characters')),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
  onAction: option.optional(option.function<(action: ConsoleAction) => unknown>()),
  now: option.default(option.function<() => number>(), () => () => Date.now()),
});

/** The checked options, with every default filled in. */
export type ConsoleSettings = ReturnType<typeof resolveOptions>;

/** @throws WebhookError `invalid-options` */
export function resolveOptions(options: ConsoleOptions) {
  const docs = docsUrl('console.md');
  const refuse = (problem: string): never => {
    throw new WebhookError('invalid-options', `createConsole: ${problem}`, { docs });
  };
  const given = Object(options) as Partial<ConsoleOptions>;
  if (typeof given.authorize !== 'function') refuse(AUTHORIZE);
  if (isHandler(given.receiver)) refuse(HANDLER);
  const {
    csrfKey = randomBytes(32),
    stats,
    path = '',
    origin,
    ...settings
  } = checkOptions('createConsole', rules(), options, docs);
  const { deadLetters, now } = settings;
  if (deadLetters && !('claim' in deadLetters) && !('requeue' in deadLetters))
    refuse('deadLetters: expected a store of dead letters, or the dead jobs of a queue.');
  return {
    ...settings,
    csrfKey,
    path: path.replace(/\/+$/, ''),
    // As browsers write it.
    origin: origin === undefined ? undefined : new URL(origin).origin,
    redrive: checkOptions('createConsole: redrive', redriveRules(), settings.redrive, docs),
    reconcile:
      settings.reconcile &&
      checkOptions('createConsole: reconcile', reconcileRules(), settings.reconcile, docs),
    stats: stats ?? ProcessStats.ofThisProcess(now),
  };
}
