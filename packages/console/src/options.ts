import type { Clock } from '@call-webhooks/client';
import {
  type DeadLetters,
  type FieldNames,
  type Logger,
  type Receiver,
  WebhookError,
} from '@call-webhooks/core';
import { checkOptions, docsUrl, option } from '@call-webhooks/core/internal';
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

/** What somebody did in the console. */
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
  /** The name that `authorize` gave. */
  by: string | null;
  /** The dead letter that was revealed or removed. */
  letterId?: string;
  /** How many letters were named; absent if all that match a filter are meant. */
  letters?: number;
  /** The cause whose letters are redriven or removed: what their errors have in common. */
  cause?: string;
  dryRun?: boolean;
  /** Whether an erasure also forgets the keys of the events. */
  forgetKeys?: boolean;
}

/** Options of `createConsole`. */
export interface ConsoleOptions<Raw = never> {
  /**
   * The receiver, such as `hook.receiver`. It runs what is redriven, and its store knows what happened in
   * all processes.
   */
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
  /** Nobody can change anything or see personal data; `false` by default. */
  readOnly?: boolean | undefined;
  /**
   * Where the console is mounted: needed for `console.fetch` and for `node:http`. Express and Fastify know
   * it themselves.
   */
  path?: string | undefined;
  /** Such as `'https://ops.example.com'`: needed if a proxy changes the `Host` of requests. */
  origin?: string | undefined;
  /** Where to sign in, such as `'/login'`: the link that is shown to who may not see the console. */
  signIn?: string | undefined;
  /** Gets a line for all that is changed or revealed; `console` by default. */
  logger?: Logger | undefined;
  /** Called with all that is changed or revealed, for an audit log. What it throws is ignored. */
  onAction?: ((action: ConsoleAction) => unknown) | undefined;
  /** The source of time; the clock of the machine by default. */
  clock?: Clock | undefined;
}

const AUTHORIZE =
  "authorize is missing. Decide who may see the console: authorize: (request) => true or { name: 'Ada' } for those who may, and false for all others.";

const HANDLER =
  'receiver: this is the handler of an adapter. Pass the receiver that it has: receiver: hook.receiver.';

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
    refuse('deadLetters: expected a store of dead letters, or the dead jobs of a queue.');
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
    fieldNames: option.optional(option.object<FieldNames>()),
    query: option.optional(option.function<NonNullable<ConsoleReconcile['query']>>()),
    newestFirst: option.optional(option.boolean()),
    pageSize: option.optional(option.count(1, 100_000)),
    concurrency: option.optional(option.count(1, 100)),
    tenant: option.optional(
      option.text(/^.{1,128}$/u, 'expected the name of a tenant, 1 to 128 characters'),
    ),
  }) satisfies Record<keyof ConsoleReconcile, unknown>;

/** The options of `redrive` that a console can be given. */
export type ConsoleRedrive = Pick<RedriveOptions, 'defaultTenant' | 'concurrency' | 'leaseFor'>;

/** The options of `reconcile` of `@call-webhooks/recovery`, without those that the console sets. */
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
