import type {
  DeadLetters,
  Outcome,
  OutcomeCode,
  Receiver,
  StoredDeadLetter,
} from '@call-webhooks/core';
import type {
  DeadJobs,
  DeadLetterFailure,
  DeadLetterFilter,
  DeadLetterList,
} from '@call-webhooks/core/stores';
import { callHook, checkOptions, option } from '@call-webhooks/core/internal';
import { inParallel } from './in-parallel.ts';
import { keepLease } from './lease.ts';

/** What became of the dead letters. Each is counted once. */
export interface RedriveResult {
  /** Their handlers succeeded. These are gone. */
  handled: number;
  /** Given back to a queue, whose workers run them. */
  queued: number;
  /** They failed again, and wait with their new error. */
  failed: number;
  /** Not run, since the events were handled before. These are gone. */
  alreadyHandled: number;
  /** No result came in time: the handlers may be running. These stay. */
  unknown: number;
  /**
   * Not run: another redrive has it, its event is being handled or has no handler here, it is of another
   * tenant, it is a dead job of a queue, or there is none with this `id`. `onProgress` is told why.
   */
  skipped: number;
}

/** What became of one dead letter, and of all so far. */
export interface RedriveProgress extends RedriveResult {
  /** How many this redrive is about. */
  total: number;
  id: string;
  result: keyof RedriveResult;
  /** How the run ended. Absent if it was not run. */
  outcome?: OutcomeCode;
  /**
   * Why it was not run: there is none with this id (any more), another redrive has it, it is of another
   * tenant, or it is a dead job, which `redrive({ deadJobs })` runs. Absent if it was run.
   */
  reason?: 'not-found' | 'claimed' | 'other-tenant' | 'dead-job';
  /** As it was before the run. Absent if another redrive had it. */
  letter?: StoredDeadLetter;
}

interface SharedOptions {
  /** One dead letter. With neither `id` nor `filter`, all are run. */
  id?: string | undefined;
  /** Those that match. Those that arrive during the redrive are not run. */
  filter?: Omit<DeadLetterFilter, 'tenant'> | undefined;
  /** Only those of this tenant. One with the `id` that is of another is skipped. */
  tenant?: string | undefined;
  /** How many run at once; 4 by default. */
  concurrency?: number | undefined;
  /** Called after each. What it throws is ignored. */
  onProgress?: ((progress: RedriveProgress) => unknown) | undefined;
  /** When it is aborted, no other one is begun. Those that run are waited for. */
  signal?: AbortSignal | undefined;
}

/** Options of `redrive` for a store of dead letters. */
export interface RedriveOptions extends SharedOptions {
  /** A receiver with the handlers, and with the store that the receiving processes use. */
  receiver: Pick<Receiver, 'deliver'>;
  deadLetters: DeadLetters;
  /**
   * Whose those without a tenant are, for a receiver with tenants: they are from before it had any. All
   * others say it themselves. With `tenant`, those without one are not run.
   */
  defaultTenant?: string | undefined;
  /**
   * How long a dead letter stays claimed if this process dies; milliseconds, 60,000 by default. The claim is
   * renewed while the handler runs.
   */
  leaseFor?: number | undefined;
}

/** Options of `redrive` for the dead jobs of a queue. */
export interface RequeueOptions extends SharedOptions {
  deadJobs: DeadJobs;
}

const tenantName = () =>
  option.optional(option.text(/^.{1,128}$/u, 'expected the name of a tenant, 1 to 128 characters'));

const sharedRules = () => ({
  id: option.optional(option.text(/./s, 'expected the id of a letter')),
  filter: option.optional(option.object<DeadLetterFilter>()),
  tenant: tenantName(),
  concurrency: option.default(option.count(1, 1_000), 4),
  onProgress: option.optional(option.function<(progress: RedriveProgress) => unknown>()),
  signal: option.optional(option.object<AbortSignal>('throwIfAborted')),
});

const redriveRules = () => ({
  ...sharedRules(),
  receiver: option.object<Pick<Receiver, 'deliver'>>('deliver'),
  deadLetters: option.object<DeadLetters>(
    ...['list', 'count', 'get', 'claim', 'extend', 'settle', 'giveBack'],
  ),
  defaultTenant: tenantName(),
  leaseFor: option.default(option.milliseconds(1_000, 3_600_000), 60_000),
});

const requeueRules = () => ({
  ...sharedRules(),
  deadJobs: option.object<DeadJobs>('list', 'count', 'get', 'requeue'),
});

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
    const settings = checkOptions('redrive', requeueRules(), options);
    const { deadJobs } = settings;
    return redriveAll(deadJobs, settings, async (id) =>
      (await deadJobs.requeue(id)) ? { result: 'queued' } : skipped('not-found'),
    );
  }
  const settings = checkOptions('redrive', redriveRules(), options);
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
  settings: SharedOptions & { concurrency: number },
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
  { receiver, deadLetters, defaultTenant, leaseFor }: RedriveOptions & { leaseFor: number },
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

  const claim = keepLease(() => deadLetters.extend(id, token, leaseFor), leaseFor);
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
