import { systemClock, type Clock } from '@call-webhooks/client';
import { WebhookError, type Logger, type Store } from '@call-webhooks/core';
import { checkOptions, docsUrl, option, tenantKey } from '@call-webhooks/core/internal';
import { SETTLE_FOR_MS } from './cursor.ts';
import { sharedRules, type ReconcileResult, type SharedOptions } from './reconcile-options.ts';

/** The events that one run found to have never arrived, as passed to the `onMissed` of `startReconciler`. */
export interface MissedReport {
  /** The number of events that were missed. */
  missed: number;
  /** The ids (`_id`) of their calls, at most 20. */
  callIds: string[];
  /** The run looked at calls that began at this time or later. */
  since: Date;
  /** The run looked at calls that began before this time. */
  until: Date;
  /** All counts of the run. */
  result: ReconcileResult;
}

/** The part of a store that `startReconciler` uses. */
export type ReconcilerStore = Pick<
  Store,
  'admit' | 'extend' | 'release' | 'rememberFor' | 'peek' | 'log'
> &
  Required<Pick<Store, 'loadCursor' | 'saveCursor'>>;

/** The options of `startReconciler`. */
export interface ReconcilerOptions extends SharedOptions {
  /** The store that all processes share. Default: `receiver.store`. */
  store?: Store | undefined;
  /** The time between two runs, in milliseconds; at least 60,000. Default: 900,000 (15 minutes). */
  every?: number | undefined;
  /**
   * A run leaves out what happened less than this long ago, in milliseconds: its webhook may still arrive, and
   * carries more data. Default: 600,000 (10 minutes), which is enough for two attempts of the service.
   */
  settleFor?: number | undefined;
  /**
   * The minimum period each run covers, in milliseconds. It has to be longer than your longest calls. Default:
   * 21,600,000 (6 hours).
   */
  lookBack?: number | undefined;
  /** The first run of all processes looks at calls that began at this time or later. Default: when it starts. */
  since?: Date | undefined;
  /**
   * Whether runs only report what was missed, which needs `peek` of the store, and run nothing. Each run reports
   * what is still missing. Default: `false`.
   */
  dryRun?: boolean | undefined;
  /** Called after a run that found events that never arrived. Errors it throws are ignored. */
  onMissed?: ((report: MissedReport) => unknown) | undefined;
  /** Called after each run with its counts. Errors it throws are ignored. */
  onRun?: ((result: ReconcileResult) => unknown) | undefined;
  /** Called with the original error of a run that failed. Errors it throws are ignored. */
  onError?: ((error: unknown) => unknown) | undefined;
  /** Where warnings and errors are logged. Default: `console`. */
  logger?: Logger | undefined;
  /** The source of time, for tests. Default: the clock of the machine. */
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
      `startReconciler: pass a store with ${missing.join(', ')}. All stores in this project have these methods.`,
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
