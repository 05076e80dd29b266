import type { Clock } from '@call-webhooks/client';
import { systemClock } from '@call-webhooks/client';
import { WebhookError, type DeadLetters, type Logger, type Store } from '@call-webhooks/core';
import type { JobState, QueueJobs } from '@call-webhooks/core/stores';
import { checkOptions, docsUrl, option } from '@call-webhooks/core/internal';
import { bodyMatcher } from '../dead-letters/contains.ts';
import type { StoreRetry } from '../store-calls.ts';

/** Whose data are erased. An event has to fit everything that is given; of a list, one value is enough. */
export interface ErasedData {
  /** The events of these calls. */
  callIds?: readonly string[] | undefined;
  /** The events of this tenant. Without it, those of all tenants are erased. */
  tenant?: string | undefined;
  /**
   * What is older than this time: dead letters and dead jobs that failed last before it, other jobs that were
   * received before it, and outcomes that ended before it.
   */
  before?: Date | undefined;
  /**
   * The events whose bodies contain one of these values: a phone number, an email address or a name. A phone number
   * has the same digits; from nine digits on, the country code or the zero of national calls may be missing. An
   * address or a name is found as whole words, whatever the case of its letters. A name alone also finds other
   * people of this name: `onProgress` says which value found an event. Outcomes have no bodies, so those of the events
   * that are found are erased.
   */
  contains?: readonly string[] | undefined;
}

/** Where data are erased. */
export interface ErasedFrom {
  /** The dead letters of the receiver. */
  deadLetters?: Pick<DeadLetters, 'list' | 'get' | 'claim' | 'settle'> | undefined;
  /** The jobs of its queue: `sqliteJobs(queue)`, `bullmqJobs(queue)` or `pgBossJobs(boss)`; or of several queues. */
  jobs?: QueueJobs | readonly QueueJobs[] | undefined;
  /** The store of the receiver, for the outcomes of its log, and for its keys with `forgetKeys`. */
  store?: Pick<Store, 'log' | 'forget'> | undefined;
}

/** Options of `erase`. */
export interface EraseOptions extends ErasedData, ErasedFrom {
  /**
   * Also erases jobs that wait for their run. **Each of them is an event that was acknowledged and is lost by this**:
   * no handler ever sees it. Without it, they are counted and stay.
   */
  loseWaiting?: boolean | undefined;
  /**
   * Also forgets the keys of the events that are erased, in the store and in the queue. If one of them is delivered
   * again, its handler runs again.
   */
  forgetKeys?: boolean | undefined;
  /** Erases nothing, and counts what would be erased; `onProgress` is given each match. */
  dryRun?: boolean | undefined;
  /** Who erases, for the log line: a name or an account. It is never taken from the data. */
  by: string;
  /** Gets one line about the erasure: how many, where, and who. Never whose data. `console` by default. */
  logger?: Logger | undefined;
  /** Called for each match, and now and then between them. Errors it throws are ignored. */
  onProgress?: ((progress: EraseProgress) => unknown) | undefined;
  /** Called when a call of a store has failed and will be retried. Errors it throws are ignored. */
  onRetry?: ((retry: StoreRetry) => unknown) | undefined;
  /** When it is aborted, the erasure ends and rejects with the signal's reason. It can be run again. */
  signal?: AbortSignal | undefined;
  /** The source of time, for pauses; the clock of the machine by default. */
  clock?: Clock | undefined;
}

/** How much was erased, or would be in a dry run. */
export interface EraseResult {
  deadLetters: number;
  /** Dead jobs of queues. */
  deadJobs: number;
  /** Jobs that are done, of which the queue had still more than their id. */
  doneJobs: number;
  /** Jobs that waited: acknowledged events that are lost. Always 0 without `loseWaiting`. */
  waitingJobs: number;
  /** Rows of the outcome log. */
  outcomes: number;
  /** Events that the store or the queue knows no longer. Always 0 without `forgetKeys`. */
  keys: number;
  /** Left alone: jobs that are running, and dead letters that a redrive has. Run it again when they have ended. */
  running: number;
  /** Left alone: jobs that wait, without `loseWaiting`. */
  leftWaiting: number;
}

/** One event that was found, without personal data. */
export interface EraseMatch {
  /** Where it is. */
  where: 'dead letters' | 'jobs';
  id: string;
  state: JobState;
  /** Erased, or would be in a dry run; or left alone. */
  result: 'erased' | 'running' | 'left waiting';
  /** When it failed last, or was received. */
  at: Date;
  eventName?: string;
  tenant?: string;
  /** Redacted if it may be a name. */
  callId?: string;
  /** Which values of `contains` its body has: their places in the list, from 0. Absent without `contains`. */
  values?: readonly number[];
}

/** How far an erasure is. */
export interface EraseProgress extends EraseResult {
  /** How many dead letters and jobs were looked at. */
  checked: number;
  /** The match that this is about. Absent for one that only says how far it is. */
  match?: EraseMatch;
}

const aList = () => option.optional(option.object<readonly string[]>());
const aFlag = () => option.default(option.boolean(), false);

const rules = () => ({
  callIds: aList(),
  tenant: option.optional(
    option.text(/^.{1,128}$/u, 'expected the name of a tenant, 1 to 128 characters'),
  ),
  before: option.optional(option.date()),
  contains: aList(),
  deadLetters: option.optional(
    option.object<Pick<DeadLetters, 'list' | 'get' | 'claim' | 'settle'>>(
      ...(['list', 'get', 'claim', 'settle'] as const),
    ),
  ),
  jobs: option.optional(option.object<QueueJobs | readonly QueueJobs[]>()),
  store: option.optional(option.object<Pick<Store, 'log' | 'forget'>>()),
  loseWaiting: aFlag(),
  forgetKeys: aFlag(),
  dryRun: aFlag(),
  by: option.text(/^[^\r\n]{1,200}$/, 'expected who erases, 1 to 200 characters in one line'),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
  onProgress: option.optional(option.function<(progress: EraseProgress) => unknown>()),
  onRetry: option.optional(option.function<(retry: StoreRetry) => unknown>()),
  signal: option.optional(option.object<AbortSignal>('throwIfAborted')),
  clock: option.default(option.object<Clock>('now', 'schedule'), () => systemClock),
});

/** The checked options. */
export type EraseSettings = ReturnType<typeof checkErase>;

/**
 * Checks the options of `erase`. No message has a value that is searched for.
 * @throws WebhookError `invalid-options`
 */
export function checkErase(options: EraseOptions) {
  const { callIds, contains, jobs, ...settings } = checkOptions('erase', rules(), options);
  const { tenant, before, deadLetters, store, forgetKeys } = settings;
  if (!callIds && !contains && tenant === undefined && before === undefined)
    throw refused('expected one of callIds, tenant, before and contains. It never erases all.');
  if (!deadLetters && !jobs && !store) throw refused('expected deadLetters, jobs or store.');
  if (forgetKeys && store && typeof store.forget !== 'function')
    throw refused('forgetKeys: this store has no forget(), so it cannot forget keys.');
  const queues: readonly QueueJobs[] = jobs === undefined ? [] : [jobs].flat();
  if (!queues.every((one) => typeof Reflect.get(Object(one) as object, 'erase') === 'function'))
    throw refused('jobs: expected what sqliteJobs, bullmqJobs or pgBossJobs returns, or a list.');
  return {
    ...settings,
    queues,
    callIds: callIds && new Set(textsOf('callIds', callIds)),
    matchers: contains && textsOf('contains', contains).map(matcherOf),
  };
}

function textsOf(name: string, list: readonly string[]): readonly string[] {
  const isList = (given: unknown): given is string[] =>
    Array.isArray(given) && given.every((one) => typeof one === 'string' && one !== '');
  if (isList(list) && list.length > 0) return list;
  throw refused(`${name}: expected a list of texts that are not empty.`);
}

function matcherOf(search: string, index: number) {
  const matcher = bodyMatcher(search);
  if (matcher) return matcher;
  throw refused(
    `contains: value ${String(index + 1)} is too short. Pass at least five digits of a phone number, or two letters.`,
  );
}

const refused = (problem: string) =>
  new WebhookError('invalid-options', `erase: ${problem}`, {
    docs: docsUrl('personal-data.md#erase-a-person'),
  });
