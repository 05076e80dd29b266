import type { Clock } from '@call-webhooks/client';
import { type DeadLetters, type Logger, type Receiver, WebhookError } from '@call-webhooks/core';
import { checkOptions, docsUrl, fieldNamesRule, option } from '@call-webhooks/core/internal';
import type { DeadJobs } from '@call-webhooks/core/stores';
import type {
  CallsClient,
  ReconcileOptions,
  ReconcileStore,
  RedriveOptions,
  ToEvents,
} from '@call-webhooks/recovery';
import type { Authorize } from './http/operator.ts';

/** The part of a receiver that the console uses. */
export type ConsoleReceiver = Pick<Receiver, 'health' | 'deliver' | 'store' | 'hasTenants'>;

/** An action of a person in the console: a change, a look at personal data, or a search for a person. */
export interface ConsoleAction {
  action:
    | 'reveal'
    | 'search'
    | 'remove'
    | 'abort-removal'
    | 'erase'
    | 'abort-erasure'
    | 'redrive'
    | 'abort-redrive'
    | 'reconcile'
    | 'abort-reconcile';
  /** The name that `authorize` returned; `null` if it returned `true`. */
  by: string | null;
  /** The id of the dead letter that was revealed or removed. */
  letterId?: string;
  /** The number of dead letters that were selected. Absent if the action covers all that match a filter. */
  letters?: number;
  /** The cause whose dead letters are redriven or removed: the part that their errors have in common. */
  cause?: string;
  /** Whether a reconcile run only reports missed events, and runs none. */
  dryRun?: boolean;
  /** Whether an erasure also removes the keys by which the store recognizes the erased events. */
  forgetKeys?: boolean;
}

/** Options of `createConsole`. */
export interface ConsoleOptions<Raw = never> {
  /**
   * The receiver, such as `hook.receiver`. It runs redriven and missed events. The console shows what all
   * processes have written to its store.
   */
  receiver: ConsoleReceiver;
  /**
   * Decides who may use the console. It is called for every request, and has 5,000 ms.
   * @example authorize: ({ raw }) => raw.user?.isAdmin && { name: raw.user.name }
   */
  authorize: Authorize<Raw>;
  /** The dead-letter store of the receiver, or the dead jobs of its queue. Without it, the console shows none. */
  deadLetters?: DeadLetters | DeadJobs | undefined;
  /** Options for redrives: `defaultTenant`, `concurrency` and `leaseFor`. */
  redrive?: ConsoleRedrive | undefined;
  /**
   * Options for reconcile runs, which find events that never arrived: `client`, which asks the service for
   * its calls, and the options of `reconcile`. Without it, the console cannot reconcile.
   */
  reconcile?: ConsoleReconcile | undefined;
  /** Whether all changes are refused, and personal data stays masked; `false` by default. */
  readOnly?: boolean | undefined;
  /**
   * The path where the console is mounted, such as `'/ops/webhooks'`. Required for `console.fetch` and for
   * `node:http`. Express and Fastify provide it.
   */
  path?: string | undefined;
  /** The origin of the console, such as `'https://ops.example.com'`. Required if a proxy changes the `Host` header. */
  origin?: string | undefined;
  /** A link for people who are not signed in, such as `'/login'`. It is shown when `authorize` refuses them. */
  signIn?: string | undefined;
  /** Logs every change, every look at personal data and every search for a person; `console` by default. */
  logger?: Logger | undefined;
  /**
   * Called for every change, every look at personal data and every search for a person, for an audit log.
   * Errors it throws are ignored.
   */
  onAction?: ((action: ConsoleAction) => unknown) | undefined;
  /** The source of time; the system clock by default. */
  clock?: Clock | undefined;
}

const AUTHORIZE =
  "authorize is missing. Pass a function that decides who may use the console: it returns true or { name: 'Ada' } for people who may, and false for everyone else.";

const HANDLER =
  "receiver: this is an adapter's handler. Pass its receiver: receiver: hook.receiver.";

/** What an adapter made: it has the receiver that is wanted here. */
const isHandler = (given: unknown): boolean =>
  Object(given) === given && !('deliver' in (given as object)) && 'receiver' in (given as object);

/** The clock of the machine. What the console waits for must not keep alive a process that could end. */
const patientClock: Clock = {
  now: () => Date.now(),
  schedule(delay, callback) {
    const timer = setTimeout(callback, delay);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

const rules = () => ({
  receiver: option.object<ConsoleReceiver>('health', 'deliver'),
  authorize: option.function<Authorize>(),
  deadLetters: option.optional(
    option.object<DeadLetters | DeadJobs>('list', 'get', 'remove', 'count'),
  ),
  redrive: option.default(option.object<ConsoleRedrive>(), {}),
  reconcile: option.optional(option.object<ConsoleReconcile>()),
  readOnly: option.default(option.boolean(), false),
  path: option.optional(option.path()),
  origin: option.optional(
    option.text(/^https?:\/\/[^/?#\s]+$/, "expected an origin, such as 'https://ops.example.com'"),
  ),
  signIn: option.optional(
    option.text(
      /^(?:https?:\/\/[^\s/]|\/(?![/\\]))[^\s]*$/,
      "expected a path or a URL, such as '/login'",
    ),
  ),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
  onAction: option.optional(option.function<(action: ConsoleAction) => unknown>()),
  clock: option.default(option.object<Clock>('now', 'schedule'), () => patientClock),
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
  const { path = '', origin, ...settings } = checkOptions('createConsole', rules(), options, docs);
  const { deadLetters } = settings;
  if (deadLetters && !('claim' in deadLetters) && !('requeue' in deadLetters))
    refuse('deadLetters: expected a dead-letter store, or the dead jobs of a queue.');
  return {
    ...settings,
    path: path.replace(/\/+$/, ''),
    // As browsers write it.
    origin: origin === undefined ? undefined : new URL(origin).origin,
    redrive: checkOptions('createConsole: redrive', redriveRules(), settings.redrive, docs),
    reconcile:
      settings.reconcile &&
      checkOptions('createConsole: reconcile', reconcileRules(), settings.reconcile, docs),
  };
}

/** Tenants and times are checked by `redrive`. */
const redriveRules = () =>
  ({
    defaultTenant: option.optional(option.string()),
    concurrency: option.optional(option.count(1, 1_000)),
    leaseFor: option.optional(option.milliseconds(1_000, 3_600_000)),
  }) satisfies Record<keyof ConsoleRedrive, unknown>;

/** `reconcile` checks them too, but only when somebody starts one. */
const reconcileRules = () =>
  ({
    client: option.object<CallsClient>(),
    store: option.optional(option.object<ReconcileStore>()),
    toEvents: option.optional(option.function<ToEvents>()),
    recordings: option.optional(option.boolean()),
    fieldNames: option.optional(fieldNamesRule()),
    query: option.optional(option.function<NonNullable<ConsoleReconcile['query']>>()),
    newestFirst: option.optional(option.boolean()),
    pageSize: option.optional(option.count(1, 100_000)),
    concurrency: option.optional(option.count(1, 100)),
    tenant: option.optional(
      option.text(/^.{1,128}$/u, 'expected the name of a tenant, 1 to 128 characters'),
    ),
  }) satisfies Record<keyof ConsoleReconcile, unknown>;

/** The options of `redrive` that you can set for the console. */
export type ConsoleRedrive = Pick<RedriveOptions, 'defaultTenant' | 'concurrency' | 'leaseFor'>;

/** The options of `reconcile` from `@call-webhooks/recovery`, except those that the console sets itself. */
export type ConsoleReconcile = Omit<
  ReconcileOptions,
  | 'receiver'
  | 'name'
  | 'since'
  | 'until'
  | 'dryRun'
  | 'onEvent'
  | 'onProgress'
  | 'onRetry'
  | 'signal'
  | 'clock'
>;
