import { systemClock, type Clock } from '@call-webhooks/client';
import { WebhookError, type Logger, type Store } from '@call-webhooks/core';
import { checkOptions, docsUrl, option, tenantKey } from '@call-webhooks/core/internal';
import { SETTLE_FOR_MS } from './cursor.ts';
import { sharedRules, type ReconcileResult, type SharedOptions } from './reconcile-options.ts';

/** What a run found that no delivery had come for. */
export interface MissedReport {
  /** The number of events. */
  missed: number;
  /** The `_id` of up to 20 of their calls. */
  callIds: string[];
  /** The calls that were looked at began between these times. */
  since: Date;
  until: Date;
  result: ReconcileResult;
}

/** The part of a store that is used. */
export type ReconcilerStore = Pick<
  Store,
  'admit' | 'extend' | 'release' | 'rememberFor' | 'peek' | 'log'
> &
  Required<Pick<Store, 'loadCursor' | 'saveCursor'>>;

/** The options of `startReconciler`. All times are in milliseconds. */
export interface ReconcilerOptions extends SharedOptions {
  /** The store that all processes share; `receiver.store` by default. */
  store?: Store | undefined;
  /** The time between two runs, 15 minutes by default. At least a minute. */
  every?: number | undefined;
  /** Leaves alone what happened less than this long ago: 10 minutes by default, for two attempts. */
  settleFor?: number | undefined;
  /** Each run looks at least this far back: 6 hours by default. It has to be longer than calls last. */
  lookBack?: number | undefined;
  /** Where the very first run begins: when it was started, by default. */
  since?: Date | undefined;
  /**
   * Only looks up which events were missed, with `peek` of the store, and reports them: nothing is run. Each run
   * reports what is still missed in its window. `false` by default.
   */
  dryRun?: boolean | undefined;
  /** Called after a run that found events which no delivery had come for. What it throws is ignored. */
  onMissed?: ((report: MissedReport) => unknown) | undefined;
  /** Called after each run. What it throws is ignored. */
  onRun?: ((result: ReconcileResult) => unknown) | undefined;
  /** Called with the original error of a run that failed. What it throws is ignored. */
  onError?: ((error: unknown) => unknown) | undefined;
  /** `console` by default. */
  logger?: Logger | undefined;
  /** The source of time; the clock of the machine by default. */
  clock?: Clock | undefined;
}

const rules = () => ({
  ...sharedRules(),
  store: option.optional(option.object<Store>()),
  every: option.default(option.milliseconds(60_000), 900_000),
  settleFor: option.default(option.milliseconds(0), SETTLE_FOR_MS),
  lookBack: option.default(option.milliseconds(0), 21_600_000),
  since: option.optional(option.date()),
  dryRun: option.default(option.boolean(), false),
  onMissed: option.optional(option.function<NonNullable<ReconcilerOptions['onMissed']>>()),
  onRun: option.optional(option.function<NonNullable<ReconcilerOptions['onRun']>>()),
  onError: option.optional(option.function<NonNullable<ReconcilerOptions['onError']>>()),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
  clock: option.default(option.object<Clock>('now', 'schedule'), () => systemClock),
});

/** The checked options, with every default filled in. */
export type ReconcilerSettings = ReturnType<typeof resolveOptions>;

/** @throws WebhookError `invalid-options` */
export function resolveOptions(options: ReconcilerOptions) {
  const docs = docsUrl('recovery.md#on-a-schedule');
  const checked = checkOptions('startReconciler', rules(), options, docs);
  const { every, settleFor, lookBack, since, onMissed, onRun, onError, logger, clock, ...shared } =
    checked;
  const { dryRun, name } = shared;
  const store: Partial<Store> = shared.store ?? shared.receiver.store ?? {};
  const needed = [
    ...(['admit', 'extend', 'release', 'loadCursor', 'saveCursor'] as const),
    ...(dryRun ? (['peek'] as const) : []),
  ];
  const missing = needed.filter((method) => typeof store[method] !== 'function');
  if (missing.length > 0)
    throw new WebhookError(
      'invalid-options',
      `startReconciler: pass a store with ${missing.join(', ')}. Those of this project have all of it.`,
      { docs },
    );
  return {
    every,
    settleFor,
    lookBack,
    since,
    onMissed,
    onRun,
    onError,
    logger,
    clock,
    store: store as ReconcilerStore,
    ...{ tenant: shared.tenant, name, dryRun },
    // The name of its lease and its schedule; `reconcile` names its cursor alike. A dry run moves no other one.
    stateName: tenantKey(shared.tenant, dryRun ? `${name}/dry-run` : name),
    /** For `reconcile`. */
    shared: { ...shared, store: store as ReconcilerStore },
  };
}
