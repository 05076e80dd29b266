import type { DeadLetters } from '@call-webhooks/core';
import type { DeadJobs } from '@call-webhooks/core/stores';
import { redrive, type RedriveProgress } from '@call-webhooks/recovery';
import { nothingRedriven, type Persistence } from '@call-webhooks/recovery/internal';
import type { LettersTask, RedriveTask } from './api-types.ts';
import type { DeadLetterDesk } from './dead-letters.ts';
import type { ConsoleSettings } from './options.ts';
import type { DeadLetterSelection } from './requests.ts';
import { sum } from './numbers.ts';
import { countRetries } from './store-calls.ts';

/** Which letters are meant: these, or those that match. */
export type LettersChoice = { ids: readonly string[] } | { filter: DeadLetterSelection };

/** What a task has before it begins. @param cause the error that its letters have in common */
export const newLettersTask = (choice: LettersChoice, cause: string | undefined) => ({
  ...(cause !== undefined && { cause }),
  total: 'ids' in choice ? choice.ids.length : null,
  countedAt: null,
  retries: 0,
});

export const newRedrive = (choice: LettersChoice, cause: string | undefined) => ({
  ...newLettersTask(choice, cause),
  counts: nothingRedriven(),
});

/** The ids of the letters that a task is about, counted. */
export async function idsOf(
  choice: LettersChoice,
  task: LettersTask,
  desk: DeadLetterDesk,
  persistence: Persistence,
): Promise<readonly string[]> {
  const ids = 'ids' in choice ? choice.ids : await desk.ids(choice.filter, persistence);
  task.total = ids.length;
  task.countedAt = persistence.clock.now();
  return ids;
}

/** Runs letters again. Rejects with what `redrive` rejects with, and when it was stopped before the end. */
export async function runRedrive(
  choice: LettersChoice,
  task: RedriveTask,
  signal: AbortSignal,
  settings: ConsoleSettings,
  desk: DeadLetterDesk,
): Promise<void> {
  const { receiver, clock, logger, redrive: options } = settings;
  const onRetry = countRetries(task, logger);
  const onProgress = ({ result }: RedriveProgress) => {
    task.counts[result] += 1;
  };
  const ids = await idsOf(choice, task, desk, { clock, signal, onRetry });
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
