import { inParallel, persistently } from '@call-webhooks/recovery/internal';
import type { RemovalTask } from './api-types.ts';
import type { DeadLetterDesk } from './dead-letters.ts';
import type { ConsoleSettings } from './options.ts';
import { idsOf, newLettersTask, type LettersChoice } from './redrive.ts';
import { countRetries } from './store-calls.ts';

const AT_ONCE = 8;

/** What a removal has before it begins. @param cause the error that its letters have in common */
export const newRemoval = (choice: LettersChoice, cause: string | undefined) => ({
  ...newLettersTask(choice, cause),
  counts: { removed: 0, notFound: 0 },
});

/** Removes letters for good. Rejects if a store goes on failing, and when it was stopped before the end. */
export async function runRemoval(
  choice: LettersChoice,
  task: RemovalTask,
  signal: AbortSignal,
  { clock, logger, deadLetters }: ConsoleSettings,
  desk: DeadLetterDesk,
): Promise<void> {
  const onRetry = countRetries(task, logger);
  const persistence = { clock, signal, onRetry };
  const ids = await idsOf(choice, task, desk, persistence);
  try {
    await inParallel(ids, { concurrency: AT_ONCE, signal }, async (id) => {
      const isRemoved = await persistently(
        'remove() of the store of dead letters',
        async () => (await deadLetters?.remove(id)) ?? false,
        persistence,
      );
      task.counts[isRemoved ? 'removed' : 'notFound'] += 1;
    });
  } finally {
    desk.refresh();
  }
  if (task.counts.removed + task.counts.notFound < ids.length) signal.throwIfAborted();
}
