import { ApiError, type CallRecord, type Page } from '@call-webhooks/client';
import { eventKey, OUTCOMES, WebhookError, type Outcome } from '@call-webhooks/core';
import { callHook, docsUrl, tenantKey } from '@call-webhooks/core/internal';
import type { EventState } from '@call-webhooks/core/stores';
import {
  checkWindow,
  CLOCK_DIFFERENCE_MS,
  loadCursor,
  planRun,
  SETTLE_FOR_MS,
  type Pass,
  type SavedCursor,
  type Window,
} from './cursor.ts';
import { beganAt, eventsOf, happenedAt, type MissedEvent } from './events.ts';
import { inParallel } from './in-parallel.ts';
import { saveCovered } from './status/covered.ts';
import { tenantsOf } from './status/evidence.ts';
import {
  needsTenant,
  resolveOptions,
  type ReconciledEvent,
  type ReconcileOptions,
  type ReconcileResult,
  type ReconcileSettings,
  type ReconcileStore,
} from './reconcile-options.ts';
import { persistently, untilTaken } from './store-calls.ts';

/**
 * Asks the service for its calls, and runs the events of calls for which no delivery arrived. Events that the store
 * knows do not run again, and a webhook that arrives later is a duplicate.
 *
 * What happened in the last 10 minutes is left out unless you pass `until`, because its webhook may still arrive and
 * has more data than the event that `reconcile` builds.
 *
 * The store keeps a cursor: the next run with the same `name` continues where an interrupted one stopped. Once a run
 * has ended, the next one begins at `since` again and finds the events that failed.
 * @returns what was found and done. Events that fail are counted, and do not reject
 * @throws WebhookError `invalid-options`, also for a window that is longer than the store remembers events, and for a
 *   receiver with tenants without `tenant`; `overloaded`, `shutting-down`, `store-unavailable` or `secret-unavailable`
 *   if the receiver takes no events now
 * @throws ClientError if the service does not respond, or responds with an error
 * @throws the error of the store if a call still fails after 10 retries, and the reason of `signal`
 * @example
 * const hook = callWebhooks({ secret, store, on });
 * const since = new Date(Date.now() - 12 * 3_600_000);
 * const { missed, handled } = await reconcile({ client, receiver: hook.receiver, since });
 */
export async function reconcile(options: ReconcileOptions): Promise<ReconcileResult> {
  const settings = resolveOptions(options);
  const { name } = settings;
  const store = persistentStore(settings);
  const now = settings.clock.now();
  const until = Math.min(settings.until?.getTime() ?? now - SETTLE_FOR_MS, now);
  const window = { since: settings.since.getTime(), until };
  checkWindow(window, store.rememberFor, now);
  await checkTenants(settings);
  const { passes, result } = planRun(window, await loadCursor(store, name));
  const eventNames = new Set(runByDefault(settings));
  const onEvent = (event: ReconciledEvent) => {
    eventNames.add(event.event.eventName);
    return settings.onEvent?.(event);
  };
  for (const pass of passes) await runPass(pass, window, { ...settings, onEvent, store }, result);
  if (result.failed === 0) await saveCovered(store, settings.tenant, eventNames, window);
  await store.saveCursor?.(name);
  return result;
}

/** The events that a run looks for, whether or not a call lacks one. */
const runByDefault = ({ recordings }: Pick<ReconcileOptions, 'recordings'>): readonly string[] => [
  'call:completed',
  ...(recordings ? ['call:recording-available'] : []),
];

/** A receiver that does not say whether it has tenants may share its store with one that has. */
async function checkTenants({ receiver, tenant, store, ...persistence }: ReconcileSettings) {
  const { log } = store;
  if (tenant !== undefined || receiver.hasTenants !== undefined || !log) return;
  const { marks } = await persistently('marks() of the log', () => log.marks(), persistence);
  const tenants = tenantsOf(marks);
  if (tenants.length === 0) return;
  const shown = tenants.slice(0, 5).join(', ') + (tenants.length > 5 ? ', …' : '');
  throw needsTenant(`the store has deliveries of tenants: ${shown}`);
}

/** The store, whose calls are repeated while they fail. */
function persistentStore({ store, ...persistence }: ReconcileSettings): ReconcileStore {
  const ask = <T>(method: string, call: () => Promise<T>) =>
    persistently(`${method}() of the store`, call, persistence);
  const { rememberFor, log } = store;
  return {
    rememberFor,
    log,
    ...(store.peek && {
      peek: (keys) => ask('peek', async () => (await store.peek?.(keys)) ?? []),
    }),
    ...(store.loadCursor && {
      loadCursor: (name) => ask('loadCursor', async () => store.loadCursor?.(name)),
    }),
    ...(store.saveCursor && {
      saveCursor: (name, cursor) => ask('saveCursor', async () => store.saveCursor?.(name, cursor)),
    }),
  };
}

/** @param result what was found so far; it is added to */
async function runPass(
  pass: Pass,
  window: Window,
  settings: ReconcileSettings,
  result: ReconcileResult,
): Promise<void> {
  const { store, name, newestFirst, onProgress, signal } = settings;
  let isDated = false;
  for await (const { results: calls, next } of pagesOf(settings, pass)) {
    const dated = datedCalls(calls, settings);
    isDated ||= dated.length > 0;
    if (!isDated && calls.length > 0) throw withoutTimes(settings);
    result.skipped += calls.length - dated.length;

    const inWindow = dated.filter(({ began }) => began >= pass.since && began < pass.until);
    await inParallel(inWindow, settings, async ({ call, began }) => {
      result.seen++;
      // Whether the store still knows its events, if they were handled: time goes on during a run.
      const remembered = settings.clock.now() - (store.rememberFor ?? 0) + CLOCK_DIFFERENCE_MS;
      if (began < remembered) result.skipped++;
      else
        for (const event of await eventsOf(call, new Date(window.until), settings))
          await deliverEvent(event, call, settings, result);
      if (onProgress) callHook(onProgress, { ...result });
    });
    signal?.throwIfAborted();
    if (next === undefined) return;
    if (newestFirst && dated.length > 0 && dated.every(({ began }) => began < pass.since)) {
      result.stoppedEarly = true;
      return;
    }
    const cursor: SavedCursor = { since: window.since, until: pass.until, next, result };
    await store.saveCursor?.(name, JSON.stringify(cursor));
  }
}

const datedCalls = (calls: readonly CallRecord[], { fieldNames }: ReconcileSettings) =>
  calls.flatMap((call) => {
    const began = beganAt(call, fieldNames);
    return began === undefined ? [] : [{ call, began }];
  });

const withoutTimes = ({ fieldNames }: ReconcileSettings): WebhookError =>
  new WebhookError(
    'invalid-options',
    `reconcile: no call record has a time in ${fieldNames.createdAt ?? 'createdAt'} or ${fieldNames.dialedAt ?? 'startedAt'}, so it is unknown when the calls began. Set fieldNames.createdAt to the name of the field that has this time.`,
    { docs: docsUrl('recovery.md#reconcile') },
  );

/** The receiver can take no events now: no other one would do better. */
const STOPPING: readonly string[] = [
  'overloaded',
  'shutting-down',
  'store-unavailable',
  'secret-unavailable',
];

/** @returns `undefined` unless the receiver can take no event now */
const stoppingError = ({
  outcome,
  error,
}: Pick<Outcome, 'outcome' | 'error'>): Error | undefined =>
  STOPPING.includes(outcome)
    ? (error ?? new WebhookError(outcome, `reconcile: ${OUTCOMES[outcome].when}`))
    : undefined;

async function deliverEvent(
  event: MissedEvent,
  call: CallRecord,
  settings: ReconcileSettings,
  result: ReconcileResult,
): Promise<void> {
  const key = eventKey(event);
  if (key === undefined)
    throw new WebhookError(
      'invalid-options',
      'toEvents: an event has no eventName, or neither a callId nor an eventId, so it would run again in each reconcile. Return these fields as well.',
      { docs: docsUrl('recovery.md#reconcile') },
    );
  const { receiver, tenant, onEvent, fieldNames, dryRun } = settings;
  const of = { callId: call._id, event, at: happenedAt(call, fieldNames) };
  if (dryRun) {
    const [state] = (await settings.store.peek?.([tenantKey(tenant, key)])) ?? [];
    const missed = state === undefined;
    result[state ? STATES[state] : 'missed']++;
    if (onEvent) callHook(onEvent, { ...of, ...(state && { state }), missed });
    return;
  }
  const delivered = await untilTaken(
    () => receiver.deliver(event, { source: 'reconcile', tenant }),
    (one) => (one.outcome === 'shutting-down' ? undefined : stoppingError(one)),
    settings,
  );
  const stopping = stoppingError(delivered);
  if (stopping !== undefined) throw stopping;
  const { outcome, attempt = 1 } = delivered;
  const counted = countedAs(delivered);
  result[counted]++;
  const missed = attempt === 1 && (counted === 'handled' || counted === 'failed');
  if (missed) result.missed++;
  if (onEvent) callHook(onEvent, { ...of, outcome, missed });
}

/** What a dry run counts an event as that the store knows. One that failed runs again. */
const STATES = {
  handled: 'known',
  running: 'known',
  failed: 'failed',
  'dead-lettered': 'inDeadLetters',
} as const satisfies Record<EventState, keyof ReconcileResult>;

function countedAs({ outcome, attempt }: Pick<Outcome, 'outcome' | 'attempt'>) {
  if (outcome === 'handled' || outcome === 'queued') return 'handled';
  if (outcome === 'duplicate') return 'known';
  if (outcome === 'in-dead-letters') return 'inDeadLetters';
  // With an attempt, it was run here, and lost its lease.
  if (outcome === 'in-progress' && attempt === undefined) return 'known';
  return outcome === 'ignored' ? 'ignored' : 'failed';
}

/** A cursor of a run of long ago may not be valid any more. */
const REFUSED = [400, 404, 410, 422];

/** The pages of a pass. Each is requested when the one before is done. */
async function* pagesOf(
  { client, query, pageSize, signal }: ReconcileSettings,
  { since, until, next: first }: Pass,
): AsyncGenerator<Page<CallRecord>, void, undefined> {
  const asked = query?.({ since: new Date(since), until: new Date(until) });
  const list = (next: string | undefined) =>
    client.calls.list({ query: asked, next, limit: pageSize, signal });
  const used = new Set<string>();
  for (let next = first; ;) {
    let page: Page<CallRecord>;
    try {
      page = await list(next);
    } catch (error) {
      if (next === undefined || used.size > 0 || !isRefused(error)) throw error;
      page = await list(undefined);
    }
    yield page;
    next = page.next;
    if (!page.hasNext || next === undefined) return;
    // Going on would never end.
    if (used.has(next))
      throw new ApiError({
        method: 'GET',
        path: '/v1/calls',
        status: 200,
        code: 'invalid-response',
        problem:
          'the service repeats the cursor of a page. Set wire.nextParam to the query parameter that it reads the cursor from',
      });
    used.add(next);
  }
}

const isRefused = (error: unknown) => error instanceof ApiError && REFUSED.includes(error.status);
