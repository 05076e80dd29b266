import { WebhookError, type DeadLetters } from '@call-webhooks/core';
import { waitAtMost } from '@call-webhooks/core/internal';
import type { DeadJobs } from '@call-webhooks/core/stores';
import { redrive, type RedriveOptions, type RedriveProgress } from '@call-webhooks/recovery';
import type { RedriveTask } from './api-types.ts';
import type { DeadLetterReader } from './dead-letters.ts';
import type { ConsoleSettings } from './options.ts';
import type { DeadLetterSelection } from './requests.ts';

const CONCURRENCY = 4;
/** A store may fail so often in a row, with a longer pause after each: a failover takes a while. */
const MAX_FAILURES = 10;
const PAUSE_MS = 500;

/** The options of `redrive` that a console can be given. */
export type ConsoleRedrive = Pick<RedriveOptions, 'defaultTenant' | 'concurrency' | 'leaseFor'>;

/** Which letters are meant: these, or those that match. */
export type RedriveWhat = { ids: readonly string[] } | { filter: DeadLetterSelection };

/** What a redrive has before it begins. @param cause the error that its letters have in common */
export const newRedrive = (what: RedriveWhat, cause: string | undefined) => ({
  ...(cause !== undefined && { cause }),
  total: 'ids' in what ? what.ids.length : null,
  counts: { handled: 0, queued: 0, failed: 0, alreadyHandled: 0, unknown: 0, skipped: 0 },
  retries: 0,
});

/**
 * Runs letters again, a few at a time. One that a store failed for is tried again, after the others.
 * Rejects when the store fails again and again, and when it was stopped before the end.
 */
export async function runRedrive(
  what: RedriveWhat,
  task: RedriveTask,
  signal: AbortSignal,
  settings: ConsoleSettings,
  reader: DeadLetterReader,
): Promise<void> {
  const ids = 'ids' in what ? what.ids : await reader.ids(what.filter);
  task.total = ids.length;
  const left = [...ids];
  const aborted = new Promise((resolve) =>
    signal.addEventListener('abort', resolve, { once: true }),
  );
  let failures = 0;
  let failure: unknown;
  const lane = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      if (signal.aborted || failure !== undefined) return;
      try {
        await runOne(id, task, signal, settings);
        failures = 0;
      } catch (error) {
        left.push(id);
        if (++failures > MAX_FAILURES || isOfOptions(error)) failure = error;
        else {
          task.retries += 1;
          await waitAtMost(PAUSE_MS * failures, aborted);
        }
      }
    }
  };
  const { concurrency = CONCURRENCY } = settings.redrive;
  await Promise.all(Array.from({ length: concurrency }, lane));
  reader.refresh();
  if (failure !== undefined) throw failure as Error;
  const { handled, queued, failed, alreadyHandled, unknown, skipped } = task.counts;
  const run = handled + queued + failed + alreadyHandled + unknown + skipped;
  if (run < ids.length) signal.throwIfAborted();
}

async function runOne(
  id: string,
  task: RedriveTask,
  signal: AbortSignal,
  { deadLetters, receiver, redrive: options }: ConsoleSettings,
): Promise<void> {
  const onProgress = ({ result }: RedriveProgress) => {
    task.counts[result] += 1;
  };
  const shared = { id, onProgress, signal };
  const letters = deadLetters as DeadLetters | DeadJobs;
  if ('claim' in letters) {
    const { defaultTenant, leaseFor } = options;
    await redrive({ ...shared, defaultTenant, leaseFor, receiver, deadLetters: letters });
  } else await redrive({ ...shared, deadJobs: letters });
}

/** It would fail for every other letter as well. */
const isOfOptions = (error: unknown) =>
  error instanceof WebhookError && error.code === 'invalid-options';
