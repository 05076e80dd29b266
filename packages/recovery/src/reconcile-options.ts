import { systemClock, type CallListOptions, type Clock } from '@call-webhooks/client';
import {
  type DeliverOptions,
  type FieldNames,
  type Outcome,
  type Store,
  WebhookError,
} from '@call-webhooks/core';
import type { EventState } from '@call-webhooks/core/stores';
import { checkOptions, docsUrl, option, tenantKey } from '@call-webhooks/core/internal';
import type { StoreRetry } from './store-calls.ts';
import { type CallsClient, completedEvents, type MissedEvent, type ToEvents } from './events.ts';

/** The part of a receiver that is used. */
export interface ReconcileReceiver {
  deliver(
    event: MissedEvent,
    options: Pick<DeliverOptions, 'source' | 'tenant'>,
  ): Promise<Pick<Outcome, 'outcome' | 'attempt' | 'error'>>;
  readonly store?: ReconcileStore;
  /**
   * Whether every event is that of a tenant: then `tenant` has to be given. Without this, the log of the store
   * is asked whether deliveries of tenants have arrived.
   */
  readonly hasTenants?: boolean;
}

/** The part of a store that is used. Without cursors, each run begins at the beginning. */
export type ReconcileStore = Pick<
  Store,
  'rememberFor' | 'loadCursor' | 'saveCursor' | 'peek' | 'log'
>;

/** One event that should have come, and what became of it. */
export interface ReconciledEvent {
  callId: string;
  event: MissedEvent;
  /** When the call ended, or began if its record has no end. */
  at: Date;
  /** Absent in a dry run. */
  outcome?: Outcome['outcome'];
  /** In a dry run: what the store knows of it. Absent for an event that was missed. */
  state?: EventState;
  /** Whether no delivery had come for it. */
  missed: boolean;
}

/** What a reconciliation found and did. */
export interface ReconcileResult {
  /** Calls in the window. */
  seen: number;
  /** Events that no delivery had come for. */
  missed: number;
  /** Events that were run now and handled, or put into the queue. */
  handled: number;
  /** Events that were done before, or are running. */
  known: number;
  /** Events that were in the dead letters before. They don't run until they are redriven. */
  inDeadLetters: number;
  /** Events that were run now and failed. The next run finds those again that were not given up. */
  failed: number;
  /** Events that the receiver has no handler for. */
  ignored: number;
  /** Calls that the store may have forgotten, or whose record has no time that can be read. */
  skipped: number;
  /** Whether pages were left out, as `newestFirst` promises that their calls are too old. */
  stoppedEarly: boolean;
}

/** The options that `reconcile` and `startReconciler` share. */
export interface SharedOptions {
  client: CallsClient;
  /** It runs the events that never came, or puts them into its queue. */
  receiver: ReconcileReceiver;
  /** The events that should have come for a call; `completedEvents(fieldNames)` by default. */
  toEvents?: ToEvents | undefined;
  /** Also asks for the recording of each call, with one more request. `false` by default. */
  recordings?: boolean | undefined;
  /** Where a call record has its times, as the receiver's `fieldNames`. The defaults are guesses. */
  fieldNames?: FieldNames | undefined;
  /** Query parameters of `GET /v1/calls`, if the service can narrow the list. The spec shows none. */
  query?: ((window: { since: Date; until: Date }) => CallListOptions['query']) | undefined;
  /**
   * Whether the service lists the newest calls first: then a run stops at the first page whose calls all
   * began before its window. With another order, calls would be missed. `false` by default.
   */
  newestFirst?: boolean | undefined;
  /** How many calls to ask for at once. The service decides by default. */
  pageSize?: number | undefined;
  /** How many calls are handled at once: 1 to 100; 4 by default. */
  concurrency?: number | undefined;
  /** Whose calls the `client` lists, for a receiver with tenants. */
  tenant?: string | undefined;
  /** The name of the cursor in the store; `'reconcile'` by default. Each tenant has its own. */
  name?: string | undefined;
  /** Called with each event and its outcome. What it throws is ignored. */
  onEvent?: ((event: ReconciledEvent) => unknown) | undefined;
}

/** The options of `reconcile`. */
export interface ReconcileOptions extends SharedOptions {
  /** The store that knows what was handled; `receiver.store` by default. */
  store?: ReconcileStore | undefined;
  /** Looks at calls that began then or later. */
  since: Date;
  /**
   * Looks at what happened before; 10 minutes ago by default. With a later time, an event may run before
   * its webhook comes. That is a duplicate then, and the data that only it has is lost.
   */
  until?: Date | undefined;
  /**
   * Only looks up which events were missed, with `peek` of the store: nothing is run, and no cursor is
   * kept. `false` by default.
   */
  dryRun?: boolean | undefined;
  /** Called after each call with the result so far. What it throws is ignored. */
  onProgress?: ((result: ReconcileResult) => unknown) | undefined;
  /** Stops between two calls. The next run of this name goes on there. */
  signal?: AbortSignal | undefined;
  /**
   * Called when a call of a store has failed and will be repeated, for a log line. What it throws is ignored.
   */
  onRetry?: ((retry: StoreRetry) => unknown) | undefined;
  /** The source of time; the clock of the machine by default. */
  clock?: Clock | undefined;
}

/** @internal Rules for the options that `reconcile` and `startReconciler` share. */
export const sharedRules = () => ({
  client: option.object<CallsClient>(),
  receiver: option.object<ReconcileReceiver>('deliver'),
  toEvents: option.optional(option.function<ToEvents>()),
  recordings: option.default(option.boolean(), false),
  fieldNames: option.default(option.object<FieldNames>(), {}),
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
      'reconcile: pass the store of the receiver as store.',
      { docs },
    );
  const { fieldNames, toEvents = completedEvents(fieldNames), tenant, dryRun } = checked;
  if (receiver.hasTenants && tenant === undefined) throw needsTenant('this receiver has tenants');
  if (dryRun && !store.peek)
    throw new WebhookError(
      'invalid-options',
      'reconcile: dryRun: the store has no peek(), so nobody can tell which events it knows.',
      { docs },
    );
  const name = tenantKey(tenant, checked.name);
  return { ...checked, receiver, store: dryRun ? withoutCursors(store) : store, toEvents, name };
}

/** Without a tenant, no key of the store would fit, and every event would look missed. */
export const needsTenant = (why: string): WebhookError =>
  new WebhookError(
    'invalid-options',
    `reconcile: ${why}. Say whose calls the client lists with the option tenant: { tenant: 'acme' }.`,
    { docs: docsUrl('tenants.md') },
  );

/** A dry run must not move the cursor of another run. */
const withoutCursors = (store: ReconcileStore): ReconcileStore => ({
  rememberFor: store.rememberFor,
  log: store.log,
  peek: async (keys) => (await store.peek?.(keys)) ?? [],
});
