import type { DeadLetters, OutcomeCode, Receiver, StoredDeadLetter } from '@call-webhooks/core';
import type { DeadJobs, DeadLetterFilter } from '@call-webhooks/core/stores';
import { checkOptions, option } from '@call-webhooks/core/internal';

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

/** @throws WebhookError `invalid-options` */
export const checkRedriveOptions = (options: RedriveOptions) =>
  checkOptions('redrive', redriveRules(), options);

/** @throws WebhookError `invalid-options` */
export const checkRequeueOptions = (options: RequeueOptions) =>
  checkOptions('redrive', requeueRules(), options);

/** The checked options, with every default filled in. */
export type RedriveSettings = ReturnType<typeof checkRedriveOptions>;
/** Those of them that dead letters and dead jobs share. */
export type SharedSettings = Omit<ReturnType<typeof checkRequeueOptions>, 'deadJobs'>;
