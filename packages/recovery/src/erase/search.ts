import type { JobState, ListedJob, QueueJobs } from '@call-webhooks/core/stores';
import { contentOf } from '../dead-letters/contains.ts';
import { pagesOf } from '../dead-letters/pages.ts';
import { persistently } from '../store-calls.ts';
import type { EraseSettings } from './options.ts';

/** An event whose data will be erased. Its body was looked at, and is not kept. */
export interface Found {
  readonly id: string;
  /** When it failed last, or was received. */
  readonly at: Date;
  readonly eventName?: string | undefined;
  readonly tenant?: string | undefined;
  readonly callId?: string | undefined;
  readonly key?: string | undefined;
  /** The places of the values that its body has. */
  readonly values?: readonly number[] | undefined;
  /** Whether a redrive has it. */
  readonly isClaimed?: boolean;
}

/** A job that was found. */
export interface FoundJob extends Found {
  readonly queue: QueueJobs;
  readonly state: JobState;
}

/**
 * The dead letters that fit.
 * @param onLooked called for each that was looked at
 */
export async function foundLetters(
  settings: EraseSettings,
  onLooked: () => void,
): Promise<Found[]> {
  const { deadLetters, tenant, before, callIds, matchers, signal } = settings;
  if (!deadLetters) return [];
  const ask = <T>(method: string, call: () => Promise<T>) =>
    persistently(`${method}() of the store of dead letters`, call, settings);
  const query = { tenant, until: before, limit: matchers ? 100 : 1_000 };
  const found: Found[] = [];
  const read = (cursor: string | undefined) =>
    ask('list', () => deadLetters.list({ ...query, cursor }));
  for await (const letters of pagesOf(read))
    for (const { id, failedAt: at, eventName, tenant, callId, key, claimedUntil } of letters) {
      signal?.throwIfAborted();
      onLooked();
      if (callIds && !(callId !== undefined && callIds.has(callId))) continue;
      let values: readonly number[] | undefined;
      if (matchers) {
        const whole = await ask('get', () => deadLetters.get(id));
        values = whole ? valuesIn(matchers, whole.rawBody) : [];
        if (values.length === 0) continue;
      }
      const isClaimed = claimedUntil !== undefined;
      found.push({ id, at, eventName, tenant, callId, key, values, isClaimed });
    }
  return found;
}

/** The jobs that fit, of all queues. */
export async function foundJobs(
  settings: EraseSettings,
  onLooked: () => void,
): Promise<FoundJob[]> {
  const { queues, signal } = settings;
  const found: FoundJob[] = [];
  for (const queue of queues)
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined;) {
      signal?.throwIfAborted();
      isFirst = false;
      const from = cursor;
      const page = await persistently(
        'list() of the jobs',
        () => queue.list({ cursor: from }),
        settings,
      );
      for (const job of page.jobs) {
        onLooked();
        if (!fits(job, settings)) continue;
        const values = settings.matchers && valuesIn(settings.matchers, bytesOf(job.delivery.body));
        if (values?.length === 0) continue;
        const { eventName, tenant, callId, key } = job.delivery;
        found.push({
          queue,
          id: job.id,
          state: job.state,
          at: job.at,
          eventName,
          tenant,
          callId,
          key,
          values,
        });
      }
      cursor = page.cursor;
    }
  return found;
}

function fits({ at, delivery }: ListedJob, { tenant, before, callIds }: EraseSettings): boolean {
  if (tenant !== undefined && delivery.tenant !== tenant) return false;
  if (before && at >= before) return false;
  return !callIds || (delivery.callId !== undefined && callIds.has(delivery.callId));
}

/** The places of the values that a body has. */
function valuesIn(
  matchers: NonNullable<EraseSettings['matchers']>,
  rawBody: Uint8Array,
): readonly number[] {
  const content = contentOf(rawBody);
  return matchers.flatMap((matches, at) => (matches(content) ? [at] : []));
}

function bytesOf(base64 = ''): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array(); // no delivery of a receiver
  }
}
