import type { Outcome, OutcomeCode, StoredDeadLetter } from '@call-webhooks/core';
import type {
  DeadLetterFailure,
  DeadLetterFilter,
  DeadLetterList,
} from '@call-webhooks/core/stores';
import { callHook } from '@call-webhooks/core/internal';
import { inParallel } from './in-parallel.ts';
import {
  checkRedriveOptions,
  checkRequeueOptions,
  type RedriveOptions,
  type RedriveProgress,
  type RedriveResult,
  type RedriveSettings,
  type RequeueOptions,
  type SharedSettings,
} from './redrive-options.ts';

/**
 * Runs dead letters again, in the process that has the handlers: one by its `id`, those that match a
 * `filter`, or all. A dead letter is claimed, run as `receiver.deliver` does, and removed once its event
 * is committed. One that fails waits again, with its new error. Two redrives at once never run the same
 * one, and after a crash nothing is lost.
 *
 * With `deadJobs` of a queue, its workers run what is requeued.
 * @throws WebhookError `invalid-options`; and rejects with the error of the store if that fails
 * @example
 * const { handled, failed } = await redrive({ receiver, deadLetters, filter: { eventName: 'call:completed' } });
 */
export async function redrive(options: RedriveOptions | RequeueOptions): Promise<RedriveResult> {
  if ('deadJobs' in options) {
    const settings = checkRequeueOptions(options);
    const { deadJobs } = settings;
    return redriveAll(deadJobs, settings, async (id) =>
      (await deadJobs.requeue(id)) ? { result: 'queued' } : skipped('not-found'),
    );
  }
  const settings = checkRedriveOptions(options);
  return redriveAll(settings.deadLetters, settings, (id) => redriveOne(id, settings));
}

/** What became of one dead letter. */
type Redriven = Pick<RedriveProgress, 'result' | 'outcome' | 'reason' | 'letter'>;

const skipped = (
  reason: NonNullable<RedriveProgress['reason']>,
  letter?: StoredDeadLetter,
): Redriven => ({ result: 'skipped', reason, ...(letter && { letter }) });

async function redriveAll(
  list: DeadLetterList,
  settings: SharedSettings,
  redriveById: (id: string) => Promise<Redriven>,
): Promise<RedriveResult> {
  const { id: wanted, filter, tenant, onProgress } = settings;
  const ofTenant = tenant === undefined ? filter : { ...filter, tenant };
  const ids = wanted === undefined ? await idsOf(list, ofTenant) : [wanted];
  const total = ids.length;
  const counts = { handled: 0, queued: 0, failed: 0, alreadyHandled: 0, unknown: 0, skipped: 0 };
  const skippedBefore = async (id: string) => {
    if (wanted === undefined || tenant === undefined) return undefined; // the list knows
    const letter = await list.get(id);
    if (!letter) return skipped('not-found');
    return letter.tenant === tenant ? undefined : skipped('other-tenant');
  };
  await inParallel(ids, settings, async (id) => {
    const one = (await skippedBefore(id)) ?? (await redriveById(id));
    counts[one.result] += 1;
    if (onProgress) callHook(onProgress, { ...counts, ...one, id, total });
  });
  return counts;
}

/** The ids of all that match now. A dead letter that fails again would come up again at the end. */
async function idsOf(
  list: DeadLetterList,
  filter: DeadLetterFilter | undefined,
): Promise<string[]> {
  const ids = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await list.list({ ...filter, cursor });
    for (const { id } of page.letters) ids.add(id);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return [...ids];
}

/** What an outcome means for the dead letter. With all others it is kept and skipped. */
const RESULTS: Partial<Record<OutcomeCode, { result: keyof RedriveResult; keep: boolean }>> = {
  handled: { result: 'handled', keep: false },
  queued: { result: 'queued', keep: false },
  duplicate: { result: 'alreadyHandled', keep: false },
  deadline: { result: 'unknown', keep: true },
  'dead-lettered': { result: 'failed', keep: true },
  'handler-failed': { result: 'failed', keep: true },
  'invalid-payload': { result: 'failed', keep: true },
  'body-too-large': { result: 'failed', keep: true },
};

/** With these no other dead letter could be run. */
const HOPELESS: readonly OutcomeCode[] = ['store-unavailable', 'shutting-down'];

/**
 * Claims a dead letter, runs it, and settles it or gives it back.
 * @throws what the store of dead letters or the receiver throws
 */
async function redriveOne(
  id: string,
  { receiver, deadLetters, defaultTenant, leaseFor }: RedriveSettings,
): Promise<Redriven> {
  const token = crypto.randomUUID();
  const letter = await deadLetters.claim(id, { token, leaseMs: leaseFor });
  if (!letter) return skipped((await deadLetters.get(id)) ? 'claimed' : 'not-found');
  const giveBack = (failure?: DeadLetterFailure) => deadLetters.giveBack(id, token, failure);
  // Only its queue knows whether such a job was run since. The store has its event as handed over.
  if (letter.source === 'queue') {
    await giveBack();
    return skipped('dead-job', letter);
  }

  const claim = keepClaim(() => deadLetters.extend(id, token, leaseFor), leaseFor);
  const tenant = letter.tenant ?? defaultTenant;
  let outcome: Outcome;
  try {
    outcome = await receiver.deliver(letter, { source: 'redrive', tenant, signal: claim.lost });
  } catch (error) {
    await giveBack();
    throw error;
  } finally {
    claim.stop();
  }

  const { outcome: code } = outcome;
  const { result, keep } = RESULTS[code] ?? { result: 'skipped', keep: true };
  if (!keep) await deadLetters.settle(id, token);
  else await giveBack(result === 'failed' ? failureOf(outcome, letter) : undefined);
  if (HOPELESS.includes(code)) throw outcome.error ?? new Error(code);
  return { result, outcome: code, letter };
}

const failureOf = (outcome: Outcome, { attempt }: StoredDeadLetter): DeadLetterFailure => ({
  at: new Date(),
  source: 'redrive',
  attempt: outcome.attempt ?? attempt,
  error: outcome.error?.message ?? outcome.outcome,
});

/** Renews a claim at every third of its length. `lost` is aborted if somebody else may have it. */
function keepClaim(extend: () => Promise<boolean>, leaseMs: number) {
  const controller = new AbortController();
  const renew = async () => {
    // If the store fails, the next renewal or the end will tell.
    const isHeld = await extend().catch(() => true);
    if (!isHeld) controller.abort();
  };
  const timer = setInterval(() => void renew(), leaseMs / 3);
  return {
    lost: controller.signal,
    stop: () => {
      clearInterval(timer);
    },
  };
}
