import { systemClock, type CallListOptions, type Clock } from '@call-webhooks/client';
import {
  type DeliverOptions,
  type FieldNames,
  type Outcome,
  type Store,
  WebhookError,
} from '@call-webhooks/core';
import type { EventState } from '@call-webhooks/core/stores';
import {
  checkOptions,
  docsUrl,
  fieldNamesRule,
  option,
  tenantKey,
} from '@call-webhooks/core/internal';
import type { StoreRetry } from './store-calls.ts';
import { type CallsClient, completedEvents, type MissedEvent, type ToEvents } from './events.ts';

/** The part of a receiver that `reconcile` and `startReconciler` use. */
export interface ReconcileReceiver {
  /** Runs one event, or puts it into the queue of the receiver. */
  deliver(
    event: MissedEvent,
    options: Pick<DeliverOptions, 'source' | 'tenant'>,
  ): Promise<Pick<Outcome, 'outcome' | 'attempt' | 'error'>>;
  /** The store of the receiver. */
  readonly store?: ReconcileStore;
  /**
   * Whether the receiver has tenants; the option `tenant` is required then. If this is absent, the log of the store
   * tells whether deliveries of tenants have arrived.
   */
  readonly hasTenants?: boolean;
}

/**
 * The part of a store that `reconcile` uses. Without `loadCursor` and `saveCursor`, a run that was interrupted starts
 * again with the first page.
 */
export type ReconcileStore = Pick<
  Store,
  'rememberFor' | 'loadCursor' | 'saveCursor' | 'peek' | 'log'
>;

/** One event of a call, and what became of it: what `onEvent` of `reconcile` gets. */
export interface ReconciledEvent {
  /** The id (`_id`) of the call. */
  callId: string;
  /** The event as the handler gets it. */
  event: MissedEvent;
  /** When the call ended; or when it began, if its record has no end. */
  at: Date;
  /** The outcome of the run. Absent in a dry run. */
  outcome?: Outcome['outcome'];
  /** In a dry run, what the store knows of the event. Absent for an event that was missed. */
  state?: EventState;
  /** Whether no delivery had arrived for the event. */
  missed: boolean;
}

/** What `reconcile` found and did. */
export interface ReconcileResult {
  /** The number of calls in the window. */
  seen: number;
  /** Events that never arrived. */
  missed: number;
  /** Events that this run handled, or put into the queue. */
  handled: number;
  /** Events that were handled before, or that are being handled. */
  known: number;
  /** Events that are dead letters. They do not run until they are redriven. */
  inDeadLetters: number;
  /** Events that failed in this run; in a dry run, those that have failed so far. The next run runs them again. */
  failed: number;
  /** Events for which the receiver has no handler. */
  ignored: number;
  /** Calls that were left out: the store may have forgotten their events, or their record has no readable time. */
  skipped: number;
  /** Whether pages were left out because, with `newestFirst`, all their calls began before the window. */
  stoppedEarly: boolean;
}

/** The options that `reconcile` and `startReconciler` share. */
export interface SharedOptions {
  /** A client of the service, which lists the calls. */
  client: CallsClient;
  /** The receiver that runs the missed events, or puts them into its queue. */
  receiver: ReconcileReceiver;
  /** Builds the events that should have arrived for a call. Default: `completedEvents(fieldNames)`. */
  toEvents?: ToEvents | undefined;
  /** Whether to ask the service for the recording of each call as well, with one more request. Default: `false`. */
  recordings?: boolean | undefined;
  /**
   * The names of the time fields in your call records, if they differ from the defaults, as for the option
   * `fieldNames` of the receiver. The service does not document these names, so the defaults are assumptions.
   */
  fieldNames?: FieldNames | undefined;
  /**
   * Builds the query parameters of `GET /v1/calls`, if your service can narrow the list. The interface documents none.
   */
  query?: ((window: { since: Date; until: Date }) => CallListOptions['query']) | undefined;
  /**
   * Whether the service lists the newest calls first. A run then stops at the first page whose calls all began before
   * the window. In any other order, calls are missed. Default: `false`.
   */
  newestFirst?: boolean | undefined;
  /** The number of calls on a page, 1 to 100,000. Default: what the service decides. */
  pageSize?: number | undefined;
  /** The number of calls that are handled at the same time, 1 to 100. Default: 4. */
  concurrency?: number | undefined;
  /** The tenant whose calls the client lists. Required for a receiver with tenants; 1 to 128 characters. */
  tenant?: string | undefined;
  /** The name of the cursor in the store, 1 to 100 characters. Each tenant has its own. Default: `'reconcile'`. */
  name?: string | undefined;
  /** Called for each event with what became of it. Errors it throws are ignored. */
  onEvent?: ((event: ReconciledEvent) => unknown) | undefined;
}

/** The options of `reconcile`. */
export interface ReconcileOptions extends SharedOptions {
  /** The store that knows which events were handled. Default: `receiver.store`. */
  store?: ReconcileStore | undefined;
  /** Only calls that began at this time or later. It may be no further back than the store's `rememberFor`. */
  since: Date;
  /**
   * Only what happened before this time. If you pass a later time than the default, an event may run before its
   * webhook arrives: that webhook is then a duplicate, and the data that only the webhook has is lost. Default: 10
   * minutes ago.
   */
  until?: Date | undefined;
  /**
   * Whether to only look up which events were missed, which needs `peek` of the store. Nothing is run, and no cursor
   * is kept. Default: `false`.
   */
  dryRun?: boolean | undefined;
  /** Called after each call with the counts so far. Errors it throws are ignored. */
  onProgress?: ((result: ReconcileResult) => unknown) | undefined;
  /** Aborting it stops the run between two calls. The next run with the same `name` continues there. */
  signal?: AbortSignal | undefined;
  /** Called when a call of the store has failed and will be retried, for a log line. Errors it throws are ignored. */
  onRetry?: ((retry: StoreRetry) => unknown) | undefined;
  /** The source of time, for tests. Default: the clock of the machine. */
  clock?: Clock | undefined;
}

/** @internal Rules for the options that `reconcile` and `startReconciler` share. */
export const sharedRules = () => ({
  client: option.object<CallsClient>(),
  receiver: option.object<ReconcileReceiver>('deliver'),
  toEvents: option.optional(option.function<ToEvents>()),
  recordings: option.default(option.boolean(), false),
  fieldNames: fieldNamesRule(),
  query: option.optional(option.function<NonNullable<SharedOptions['query']>>()),
  newestFirst: option.default(option.boolean(), false),
  pageSize: option.optional(option.count(1, 100_000)),
  concurrency: option.default(option.count(1, 100), 4),
  tenant: option.optional(
    option.text(/^.{1,128}$/u, 'expected the name of a tenant, 1 to 128 characters'),
  ),
  name: option.default(option.text(/^.{1,100}$/u, 'expected 1 to 100 characters'), 'reconcile'),
  onEvent: option.optional(option.function<NonNullable<SharedOptions['onEvent']>>()),
});

const rules = () => ({
  ...sharedRules(),
  store: option.optional(option.object<ReconcileStore>()),
  since: option.date(),
  until: option.optional(option.date()),
  dryRun: option.default(option.boolean(), false),
  onProgress: option.optional(option.function<NonNullable<ReconcileOptions['onProgress']>>()),
  signal: option.optional(option.object<AbortSignal>()),
  onRetry: option.optional(option.function<(retry: StoreRetry) => unknown>()),
  clock: option.default(option.object<Clock>('now', 'schedule'), () => systemClock),
});

/** The checked options, with every default filled in. */
export type ReconcileSettings = ReturnType<typeof resolveOptions>;

/** @throws WebhookError `invalid-options` */
export function resolveOptions(options: ReconcileOptions) {
  const docs = docsUrl('recovery.md#reconcile');
  const {
    receiver,
    store = receiver.store,
    ...checked
  } = checkOptions('reconcile', rules(), options, docs);
  if (!store)
    throw new WebhookError(
      'invalid-options',
      'reconcile: the receiver has no store. Pass the store that your receivers share as the option store.',
      { docs },
    );
  const { fieldNames, toEvents = completedEvents(fieldNames), tenant, dryRun } = checked;
  if (receiver.hasTenants && tenant === undefined) throw needsTenant('this receiver has tenants');
  if (dryRun && !store.peek)
    throw new WebhookError(
      'invalid-options',
      'reconcile: dryRun: the store has no peek(), which a dry run needs to look up events. Use another store, or leave out dryRun.',
      { docs },
    );
  const name = tenantKey(tenant, checked.name);
  return { ...checked, receiver, store: dryRun ? withoutCursors(store) : store, toEvents, name };
}

/** Without a tenant, no key of the store would fit, and every event would look missed. */
export const needsTenant = (why: string): WebhookError =>
  new WebhookError(
    'invalid-options',
    `reconcile: ${why}. Pass the tenant whose calls the client lists, such as { tenant: 'acme' }.`,
    { docs: docsUrl('tenants.md') },
  );

/** A dry run must not move the cursor of another run. */
const withoutCursors = (store: ReconcileStore): ReconcileStore => ({
  rememberFor: store.rememberFor,
  log: store.log,
  peek: async (keys) => (await store.peek?.(keys)) ?? [],
});
