import type { DeadLetterFilter, DeadLetterList } from '@call-webhooks/core/stores';
import { callHook } from '@call-webhooks/core/internal';
import {
  checkRedriveOptions,
  checkRequeueOptions,
  type RedriveOptions,
  type RedriveProgress,
  type RedriveResult,
  type RequeueOptions,
} from './options.ts';
import { redriveLetter, type LetterResult } from './redrive-letter.ts';

/**
 * Runs dead letters again, in the process that has the handlers: one by its `id`, those that match a
 * `filter`, or all. A letter is claimed, run as `receiver.deliver` does, and removed once its event is
 * committed. One that fails waits again, with its new error. Two redrives at once never run the same
 * letter, and after a crash nothing is lost.
 *
 * With `deadJobs` of a queue, its workers run what is requeued.
 * @throws WebhookError `invalid-options`; and rejects with the error of the store if that fails
 * @example
 * const { handled, failed } = await redrive({ receiver, deadLetters, filter: { eventName: 'call:completed' } });
 */
export async function redrive(options: RedriveOptions | RequeueOptions): Promise<RedriveResult> {
  if ('deadJobs' in options) {
    const { deadJobs, ...settings } = checkRequeueOptions(options);
    return runAll(deadJobs, settings, async (id) => ({
      result: (await deadJobs.requeue(id)) ? 'queued' : 'skipped',
    }));
  }
  const { receiver, deadLetters, defaultTenant, leaseFor, ...settings } =
    checkRedriveOptions(options);
  return runAll(deadLetters, settings, (id) =>
    redriveLetter(id, { receiver, deadLetters, defaultTenant, leaseFor }),
  );
}

interface Settings {
  id?: string | undefined;
  filter?: DeadLetterFilter | undefined;
  tenant?: string | undefined;
  concurrency: number;
  onProgress?: ((progress: RedriveProgress) => unknown) | undefined;
  signal?: AbortSignal | undefined;
}

async function runAll(
  letters: DeadLetterList,
  { id, filter, tenant, concurrency, onProgress, signal }: Settings,
  run: (id: string) => Promise<LetterResult>,
): Promise<RedriveResult> {
  const ofTenant = tenant === undefined ? filter : { ...filter, tenant };
  const ids = id === undefined ? await idsOf(letters, ofTenant) : [id];
  const isOther = async (one: string) => {
    if (id === undefined || tenant === undefined) return false; // the list knows
    return (await letters.get(one))?.tenant !== tenant;
  };
  const counts: RedriveResult = {
    ...{ handled: 0, queued: 0, failed: 0 },
    ...{ alreadyHandled: 0, unknown: 0, skipped: 0 },
  };
  let next = 0;
  const failures: unknown[] = [];

  async function work(): Promise<void> {
    while (next < ids.length && failures.length === 0 && !signal?.aborted) {
      const current = ids[next++] as string;
      try {
        const one = (await isOther(current)) ? OF_ANOTHER : await run(current);
        counts[one.result] += 1;
        if (onProgress) callHook(onProgress, { ...counts, ...one, id: current, total: ids.length });
      } catch (error) {
        failures.push(error);
      }
    }
  }

  await Promise.all(Array.from({ length: concurrency }, work));
  if (failures.length > 0) throw failures[0];
  return counts;
}

const OF_ANOTHER: LetterResult = { result: 'skipped' };

/** The ids of all letters that match now. A letter that fails again would come up again at the end. */
async function idsOf(
  letters: DeadLetterList,
  filter: DeadLetterFilter | undefined,
): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await letters.list({ ...filter, cursor });
    ids.push(...page.letters.map((letter) => letter.id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return [...new Set(ids)];
}
