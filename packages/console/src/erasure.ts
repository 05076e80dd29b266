import { erase } from '@call-webhooks/recovery';
import { nothingErased } from '@call-webhooks/recovery/internal';
import type { ErasureTask } from './api-types.ts';
import type { DeadLetterDesk } from './dead-letters.ts';
import type { ConsoleSettings } from './options.ts';
import type { ErasureRequest } from './requests.ts';
import { auditLogger, countRetries } from './store-calls.ts';

/** Whose letters are erased. It is passed to the run alone, and is never part of a task. */
export type ErasedPerson = Omit<ErasureRequest, 'forgetKeys' | 'waitMs'>;

/** What an erasure has before it begins. */
export const newErasure = (forgetKeys: boolean) => ({
  ...{ forgetKeys, checked: 0, retries: 0 },
  counts: nothingErased(),
});

/** Erases the letters of a person. Rejects with what `erase` rejects with. */
export async function runErasure(
  { about, ...selection }: ErasedPerson,
  task: ErasureTask,
  signal: AbortSignal,
  { receiver, clock, logger }: ConsoleSettings,
  desk: DeadLetterDesk,
): Promise<void> {
  try {
    task.counts = await erase({
      contains: [about],
      tenant: selection.tenant,
      deadLetters: desk.chosen(selection),
      store: receiver.store,
      forgetKeys: task.forgetKeys,
      by: task.by ?? 'an operator',
      // Its line says how many and where, when it has ended.
      ...{ clock, logger: auditLogger(logger), signal },
      onRetry: countRetries(task, logger),
      onProgress({ checked, match: _match, ...counts }) {
        Object.assign(task, { checked, counts });
      },
    });
  } finally {
    desk.refresh();
  }
}
