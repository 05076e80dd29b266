import { rolledBack } from '../dispatch/after-transaction.ts';
import type { DeliveryContext } from '../dispatch/context.ts';
import type { JobTransaction } from './worker-job.ts';

/** This run does not know whether the job is completed, or lost it. Only its engine can decide. */
export class UnsettledRun extends Error {
  override readonly name = 'UnsettledRun';
}

/**
 * Runs a handler that may call `completeIn`. Only the engine knows whether its transaction was
 * committed: a handler may ignore a rollback, or fail after the commit.
 * @param onLateFailure called with what the handler threw although the job is completed
 * @throws what the handler threw, if the job is not completed; `UnsettledRun`
 */
export async function runInTransaction(
  context: DeliveryContext,
  transaction: JobTransaction | undefined,
  run: () => Promise<void>,
  onLateFailure: (error: unknown) => void,
): Promise<void> {
  context.completable = transaction;
  let failure: { error: unknown } | undefined;
  try {
    await run();
  } catch (error) {
    failure = { error };
  }
  context.end();
  const { transactions } = context;
  if (transaction && transactions?.mayBeDone && (await isCompleted(transaction))) {
    if (failure) onLateFailure(failure.error);
    return;
  }
  if (transactions?.leaseLost)
    throw new UnsettledRun('The job was lost while its handler ran: it may run elsewhere.');
  if (failure) throw failure.error;
  if (transactions) throw rolledBack();
}

async function isCompleted(transaction: JobTransaction): Promise<boolean> {
  try {
    return await transaction.isCompleted();
  } catch (cause) {
    throw new UnsettledRun(
      'The queue could not be asked whether the transaction of completeIn was committed.',
      { cause },
    );
  }
}
