import { alsoThrown } from './dead-letters/hand-over.ts';
import type { Delivery, Route } from './delivery.ts';
import type { FieldNames } from './events/call-details.ts';
import { DeliveryContext, type LazySignal } from './events/context.ts';
import { runHandler } from './events/handlers.ts';
import type { PendingOutcome } from './outcomes.ts';
import { type AfterCommit, reportAfterCommit } from './report/reporter.ts';
import { type Completable, notCommitted, Transactions } from './store/transactions.ts';

/** One run of the handler of an event, in a receiver or in the worker of a queue. */
export interface HandlerRun {
  readonly delivery: Delivery;
  readonly route: Route;
  readonly attempt: number;
  /** The `signal` of the context. */
  readonly abort: LazySignal;
  /** What `context.completeIn` marks as done; absent if there is nothing in a database. */
  readonly target: Completable | undefined;
  /** Gets `handlerMs`. */
  readonly pending: PendingOutcome;
  /**
   * Called if the handler has called `completeIn`. Only the store or the engine knows whether its
   * transaction was committed: a handler may ignore a rollback, or fail after the commit.
   * @throws if the run is lost, or if it is not known how the transaction ended
   */
  readonly settle: (transactions: Transactions) => Promise<boolean>;
  /** Whether the service got its response meanwhile. */
  readonly isLate: () => boolean;
}

/** How a run ended. */
export interface HandlerEnd {
  /** Absent if the event is done. */
  readonly failure?: { readonly error: unknown };
  /** To be called once the event is known to be done: what `completeIn` would mark later is reported. */
  readonly reportLateCalls: () => void;
}

/**
 * Runs a handler, and settles the transaction in which it completed the event.
 * @throws what `settle` throws
 */
export async function runAndSettle(
  run: HandlerRun,
  settings: { readonly fieldNames: FieldNames } & Parameters<typeof reportAfterCommit>[1],
): Promise<HandlerEnd> {
  const { delivery, route, attempt, abort, pending } = run;
  const transactions = new Transactions(run.target);
  const startedAt = performance.now();
  let failure: { error: unknown } | undefined;
  try {
    const { fieldNames } = settings;
    await runHandler(
      route,
      new DeliveryContext(delivery, route, attempt, fieldNames, abort, transactions),
    );
  } catch (error) {
    failure = { error };
  }
  if (route.handle) pending.handlerMs = performance.now() - startedAt;
  transactions.end();

  const report = (kind: AfterCommit['kind'], error: unknown) => {
    reportAfterCommit({ kind, error, route, delivery, attempt, late: run.isLate() }, settings);
  };
  if (transactions.called) {
    let isCommitted: boolean;
    try {
      isCommitted = await run.settle(transactions);
    } catch (error) {
      const { sensitiveData } = route;
      throw failure ? alsoThrown(error, [{ source: 'handler', ...failure, sensitiveData }]) : error;
    }
    if (!isCommitted) failure ??= { error: notCommitted() };
    else if (failure) {
      report('failed-after-commit', failure.error);
      failure = undefined;
    }
  }
  const reportLateCalls = () => {
    transactions.onLateCall((error) => report('late-transaction', error));
  };
  return failure ? { failure, reportLateCalls } : { reportLateCalls };
}
