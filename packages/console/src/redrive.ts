import type { DeadLetters } from '@call-webhooks/core';
import type { DeadJobs } from '@call-webhooks/core/stores';
import { redrive, type RedriveProgress, type StoreRetry } from '@call-webhooks/recovery';
import { nothingRedriven } from '@call-webhooks/recovery/internal';
import type { RedriveTask } from './api-types.ts';
import type { DeadLetterDesk } from './dead-letters.ts';
import type { ConsoleSettings } from './options.ts';
import type { DeadLetterSelection } from './requests.ts';
import { sum } from './overview.ts';
import { logFailure } from './store-calls.ts';

/** Which letters are meant: these, or those that match. */
export type RedriveWhat = { ids: readonly string[] } | { filter: DeadLetterSelection };

/** What a redrive has before it begins. @param cause the error that its letters have in common */
export const newRedrive = (what: RedriveWhat, cause: string | undefined) => ({
  ...(cause !== undefined && { cause }),
  total: 'ids' in what ? what.ids.length : null,
  counts: nothingRedriven(),
  retries: 0,
});

/** Runs letters again. Rejects with what `redrive` rejects with, and when it was stopped before the end. */
export async function runRedrive(
  what: RedriveWhat,
  task: RedriveTask,
  signal: AbortSignal,
  settings: ConsoleSettings,
  desk: DeadLetterDesk,
): Promise<void> {
  const { receiver, clock, logger, redrive: options } = settings;
  const onRetry = ({ error, pauseMs }: StoreRetry) => {
    task.retries += 1;
    logFailure(logger, `a store failed, and is asked again in ${String(pauseMs)} ms`, error);
  };
  const onProgress = ({ result }: RedriveProgress) => {
    task.counts[result] += 1;
  };
  const ids = 'ids' in what ? what.ids : await desk.ids(what.filter, { clock, signal, onRetry });
  task.total = ids.length;
  const shared = { ids, onProgress, onRetry, signal, clock, concurrency: options.concurrency };
  const letters = settings.deadLetters as DeadLetters | DeadJobs;
  try {
    if ('claim' in letters)
      await redrive({ ...options, ...shared, receiver, deadLetters: letters });
    else await redrive({ ...shared, deadJobs: letters });
  } finally {
    desk.refresh();
  }
  const run = sum(Object.values({ ...task.counts }));
  if (run < ids.length) signal.throwIfAborted();
}
