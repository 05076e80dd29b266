import { systemClock, type Clock } from '@call-webhooks/client';
import {
  WebhookError,
  type DeadLetters,
  type Outcome,
  type OutcomeCode,
  type Receiver,
  type StoredDeadLetter,
} from '@call-webhooks/core';
import type {
  DeadJobs,
  DeadLetterFailure,
  DeadLetterFilter,
  DeadLetterList,
} from '@call-webhooks/core/stores';
import { callHook, checkOptions, docsUrl, option, shortFrames } from '@call-webhooks/core/internal';
import { withoutPrefix } from './dead-letters/failed-rows.ts';
import { pagesOf } from './dead-letters/pages.ts';
import { inParallel } from './in-parallel.ts';
import { keepLease } from './lease.ts';
import { persistently, untilTaken, type Persistence, type StoreRetry } from './store-calls.ts';

/** What `redrive` did with the dead letters or dead jobs. Each is counted once. */
export interface RedriveResult {
  /** Dead letters whose handler succeeded. They are removed. */
  handled: number;
  /** Dead jobs that were requeued, and dead letters that the receiver put into its queue. */
  queued: number;
  /** Dead letters that failed again. They stay, with the new error and attempt. */
  failed: number;
  /** Dead letters that were not run because their event had been handled before. They are removed. */
  alreadyHandled: number;
  /** Those without a result in time, so that a handler may still be running. They stay. */
  unknown: number;
  /**
   * Dead letters that were not run, and stay: another redrive is running them, their event is being handled or has no
   * handler in this receiver, they belong to another tenant, or a queue worker created them. `onProgress` gets the
   * reason.
   */
  skipped: number;
  /** Ids for which there is no dead letter: the id is wrong, or the dead letter has been redriven or removed. */
  notFound: number;
}

/** What became of one dead letter, and the counts so far: what `onProgress` of `redrive` gets. */
export interface RedriveProgress extends RedriveResult {
  /** The number of dead letters in this redrive. */
  total: number;
  /** The id of the dead letter. */
  id: string;
  /** The count of `RedriveResult` that it was added to. */
  result: keyof RedriveResult;
  /** The outcome of its run. Absent if it was not run. */
  outcome?: OutcomeCode;
  /**
   * Why it was skipped: another redrive has it (`claimed`), it belongs to another tenant, or it is a dead job, which
   * `redrive({ deadJobs })` runs. Absent for all other results, and if `outcome` tells why.
   */
  reason?: 'claimed' | 'other-tenant' | 'dead-job';
  /** The dead letter as it was before the run. Absent for a dead job, and if there was none with this id. */
  letter?: StoredDeadLetter;
}

interface SharedOptions {
  /** The id of one dead letter. Without `id`, `ids` and `filter`, all dead letters are run. */
  id?: string | undefined;
  /** The ids of several dead letters, in the order in which they are run. An empty list runs none. */
  ids?: readonly string[] | undefined;
  /** Only the dead letters that match when the redrive starts. Those that arrive later are not run. */
  filter?: Omit<DeadLetterFilter, 'tenant'> | undefined;
  /** Only the dead letters of this tenant; 1 to 128 characters. If `id` or `ids` names another tenant's dead letter, it is skipped. */
  tenant?: string | undefined;
  /** The number of dead letters that run at the same time, 1 to 1,000. Default: 4. */
  concurrency?: number | undefined;
  /** Called after each dead letter. Errors it throws are ignored. */
  onProgress?: ((progress: RedriveProgress) => unknown) | undefined;
  /** Called when a call of a store has failed and will be retried, for a log line. Errors it throws are ignored. */
  onRetry?: ((retry: StoreRetry) => unknown) | undefined;
  /**
   * Aborting it starts no other dead letter, and ends the pauses between retries of a store's call. The redrive waits
   * for the dead letters that are running.
   */
  signal?: AbortSignal | undefined;
  /** The source of time, for tests. Default: the clock of the machine. */
  clock?: Clock | undefined;
}

/** Options of `redrive` for a store of dead letters. */
export interface RedriveOptions extends SharedOptions {
  /** A receiver that has the handlers, and the store that your other receivers share. */
  receiver: Pick<Receiver, 'deliver'>;
  /** The store of dead letters. */
  deadLetters: DeadLetters;
  /**
   * For a receiver with tenants: the tenant of dead letters that have none, because they were kept before the receiver
   * had tenants. With `tenant`, such dead letters are not run.
   */
  defaultTenant?: string | undefined;
  /**
   * How long a dead letter stays claimed if this process dies, in milliseconds, 1,000 to 3,600,000. The claim is
   * renewed while the handler runs. Default: 60,000.
   */
  leaseFor?: number | undefined;
}

/** Options of `redrive` for the dead jobs of a queue. */
export interface RequeueOptions extends SharedOptions {
  /** The dead jobs, such as `sqliteDeadJobs(queue)`. */
  deadJobs: DeadJobs;
}

const tenantName = () =>
  option.optional(option.text(/^.{1,128}$/u, 'expected the name of a tenant, 1 to 128 characters'));

const sharedRules = () => ({
  id: option.optional(option.text(/./s, 'expected the id of a dead letter')),
  ids: option.optional(option.object<readonly string[]>()),
  filter: option.optional(option.object<DeadLetterFilter>()),
  tenant: tenantName(),
  concurrency: option.default(option.count(1, 1_000), 4),
  onProgress: option.optional(option.function<(progress: RedriveProgress) => unknown>()),
  onRetry: option.optional(option.function<(retry: StoreRetry) => unknown>()),
  signal: option.optional(option.object<AbortSignal>('throwIfAborted')),
  clock: option.default(option.object<Clock>('now', 'schedule'), () => systemClock),
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
 * Runs dead letters again, in the process that has the handlers: one (`id`), several (`ids`), those that match a
 * `filter`, or all. A dead letter is claimed, run as `receiver.deliver` does, and removed once its event is committed.
 * One that fails stays, with the new error and attempt. Two redrives never run the same dead letter at the same time,
 * and nothing is lost if the process dies.
 *
 * With `deadJobs`, jobs are requeued, and the workers run each of them once more.
 *
 * A call of a store that fails, or takes longer than 10 seconds, is retried up to 10 times, with pauses of 0.5 to 5
 * seconds.
 * @throws WebhookError `invalid-options`; `store-unavailable`, `overloaded` or `shutting-down` if the receiver takes
 *   nothing now
 * @throws the error of the store if a call still fails after all retries
 * @example
 * const { handled, failed } = await redrive({ receiver, deadLetters, filter: { eventName: 'call:completed' } });
 */
export async function redrive(options: RedriveOptions | RequeueOptions): Promise<RedriveResult> {
  if ('deadJobs' in options) {
    const settings = checkOptions('redrive', requeueRules(), options);
    return redriveAll(settings.deadJobs, settings, (id) => requeueOne(id, settings));
  }
  const settings = checkOptions('redrive', redriveRules(), options);
  return redriveAll(settings.deadLetters, settings, (id) => redriveOne(id, settings));
}

/** The checked options, as far as one dead letter needs them. */
type Settings = Pick<RedriveOptions, 'receiver' | 'deadLetters' | 'defaultTenant'> &
  Persistence & { leaseFor: number };

/** What became of one dead letter. */
type Redriven = Pick<RedriveProgress, 'result' | 'outcome' | 'reason' | 'letter'>;

const NOT_FOUND: Redriven = { result: 'notFound' };

const skipped = (
  reason: NonNullable<RedriveProgress['reason']>,
  letter: StoredDeadLetter | undefined,
): Redriven => ({ result: 'skipped', reason, ...(letter && { letter }) });

/** What a redrive has counted before it begins. */
export const nothingRedriven = (): RedriveResult => ({
  ...{ handled: 0, queued: 0, failed: 0 },
  ...{ alreadyHandled: 0, unknown: 0, skipped: 0, notFound: 0 },
});

type SharedSettings = SharedOptions & Persistence & { concurrency: number };

async function redriveAll(
  list: DeadLetterList,
  settings: SharedSettings,
  redriveById: (id: string) => Promise<Redriven>,
): Promise<RedriveResult> {
  const { filter, tenant, onProgress } = settings;
  const named = namedIds(settings);
  const ofTenant = tenant === undefined ? filter : { ...filter, tenant };
  const ids = named ?? (await idsOf(list, ofTenant, settings));
  const total = ids.length;
  const counts = nothingRedriven();
  const ofOthers = async (id: string) => {
    if (!named || tenant === undefined) return undefined; // the list knows
    const letter = await persistently(`get() of the ${DEAD_LETTERS}`, () => list.get(id), settings);
    if (!letter) return NOT_FOUND;
    return letter.tenant === tenant ? undefined : skipped('other-tenant', letter);
  };
  await inParallel(ids, settings, async (id) => {
    const one = (await ofOthers(id)) ?? (await redriveById(id));
    counts[one.result] += 1;
    if (onProgress) callHook(onProgress, { ...counts, ...one, id, total });
  });
  return counts;
}

const DEAD_LETTERS = 'store of dead letters';

/**
 * The ids that were given, each once; `undefined` if none were.
 * @throws WebhookError `invalid-options`
 */
function namedIds({ id, ids, filter }: SharedOptions): readonly string[] | undefined {
  const given = Object.entries({ id, ids, filter }).filter(([, value]) => value !== undefined);
  if (given.length > 1)
    throw refused(
      `expected one of id, ids and filter, but got ${given.map(([name]) => name).join(' and ')}.`,
    );
  if (ids && !(Array.isArray(ids) && ids.every((one) => typeof one === 'string' && one !== '')))
    throw refused('ids: expected a list of the ids of dead letters.');
  return id === undefined ? ids && [...new Set(ids)] : [id];
}

const refused = (problem: string) =>
  new WebhookError('invalid-options', `redrive: ${problem}`, {
    docs: docsUrl('recovery.md#dead-letters'),
  });

/** The ids of all that match now. A dead letter that fails again would come up again at the end. */
async function idsOf(
  list: DeadLetterList,
  filter: DeadLetterFilter | undefined,
  persistence: Persistence,
): Promise<string[]> {
  const ids = new Set<string>();
  const read = (cursor: string | undefined) =>
    persistently(
      `list() of the ${DEAD_LETTERS}`,
      () => list.list({ ...filter, cursor }),
      persistence,
    );
  for await (const letters of pagesOf(read)) for (const { id } of letters) ids.add(id);
  return [...ids];
}

/** Gives a dead job back to its queue. */
async function requeueOne(
  id: string,
  settings: Persistence & { deadJobs: DeadJobs },
): Promise<Redriven> {
  const { deadJobs, onRetry } = settings;
  let failures = 0;
  const isQueued = await persistently('requeue() of the dead jobs', () => deadJobs.requeue(id), {
    ...settings,
    onRetry: (retry) => {
      failures += 1;
      return onRetry?.(retry);
    },
  });
  if (isQueued) return { result: 'queued' };
  // The call that failed may have given it back, and only its answer was lost.
  return failures > 0 ? { result: 'unknown' } : NOT_FOUND;
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

/** The receiver can run nothing now: no other dead letter would do better. */
const UNAVAILABLE: readonly OutcomeCode[] = ['store-unavailable', 'overloaded', 'shutting-down'];

/**
 * Claims a dead letter, runs it, and settles it or gives it back.
 * @throws what the store of dead letters or the receiver throws, if they go on failing
 */
async function redriveOne(id: string, settings: Settings): Promise<Redriven> {
  const { deadLetters, leaseFor, clock, onRetry } = settings;
  const token = crypto.randomUUID();
  const ask = <T>(method: string, call: () => Promise<T>) =>
    persistently(`${method}() of the ${DEAD_LETTERS}`, call, settings);
  const giveBack = (failure?: DeadLetterFailure) =>
    ask('giveBack', () => deadLetters.giveBack(id, token, failure));

  const takenAt = clock.now();
  const letter = await ask('claim', () => deadLetters.claim(id, { token, leaseMs: leaseFor }));
  if (!letter) {
    const claimed = await ask('get', () => deadLetters.get(id));
    return claimed ? skipped('claimed', claimed) : NOT_FOUND;
  }
  // Only its queue knows whether such a job was run since. The store has its event as handed over.
  if (letter.source === 'queue') {
    await giveBack();
    return skipped('dead-job', letter);
  }

  const claim = keepLease({
    extend: () => deadLetters.extend(id, token, leaseFor),
    leaseMs: leaseFor,
    takenAt,
    clock,
    onError: (error) => onRetry && callHook(onRetry, { error, failures: 1, pauseMs: leaseFor / 3 }),
  });
  let outcome: Outcome;
  try {
    outcome = await deliver(letter, claim.lost, settings);
  } catch (error) {
    await giveBack();
    throw error;
  } finally {
    await claim.stop();
  }

  const { outcome: code } = outcome;
  const { result, keep } = RESULTS[code] ?? { result: 'skipped', keep: true };
  if (!keep) await ask('settle', () => deadLetters.settle(id, token));
  else await giveBack(result === 'failed' ? failureOf(outcome, letter, clock.now()) : undefined);
  if (UNAVAILABLE.includes(code)) throw outcome.error ?? new Error(code);
  return { result, outcome: code, letter };
}

/** Runs a dead letter, and again while the receiver can take nothing for now. */
function deliver(
  letter: StoredDeadLetter,
  lost: AbortSignal,
  settings: Settings,
): Promise<Outcome> {
  const { receiver, defaultTenant, signal } = settings;
  const tenant = letter.tenant ?? defaultTenant;
  return untilTaken(
    () => receiver.deliver(letter, { source: 'redrive', tenant, signal: lost }),
    ({ outcome, error }) =>
      UNAVAILABLE.includes(outcome) && outcome !== 'shutting-down'
        ? (error ?? new Error(outcome))
        : undefined,
    { ...settings, signal: signal ? AbortSignal.any([signal, lost]) : lost },
  );
}

function failureOf(
  outcome: Outcome,
  { attempt }: StoredDeadLetter,
  now: number,
): DeadLetterFailure {
  const { error } = outcome;
  const stack = error && shortFrames(error);
  return {
    at: new Date(now),
    source: 'redrive',
    attempt: outcome.attempt ?? attempt,
    // As a receiver with `deadLetter` writes it.
    error: error ? withoutPrefix(error.message) : outcome.outcome,
    ...(stack !== undefined && { stack }),
  };
}
