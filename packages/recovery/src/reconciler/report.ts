import { callHook, docsUrl, loggedError, safeLogger } from '@call-webhooks/core/internal';
import type { ReconcileResult } from '../reconcile/result.ts';
import type { Window } from '../reconcile/window.ts';
import type { ReconcilerSettings } from './options.ts';

const MAX_CALL_IDS = 20;

/** Collects the calls of missed events. */
export class MissedCalls {
  readonly #ids = new Set<string>();

  add(callId: string): void {
    if (this.#ids.size < MAX_CALL_IDS) this.#ids.add(callId);
  }

  get ids(): string[] {
    return [...this.#ids];
  }
}

/** Tells of a run: to the hooks, and in a log line if something is wrong. */
export function reportRun(
  { tenant, onMissed, onRun, logger }: ReconcilerSettings,
  window: Window,
  result: ReconcileResult,
  { ids: callIds }: MissedCalls,
): void {
  const since = new Date(window.since);
  const until = new Date(window.until);
  const log = safeLogger(logger);
  const of = tenant === undefined ? {} : { tenant };
  const { missed, failed } = result;
  if (missed > 0) {
    const fields = {
      ...of,
      ...result,
      since,
      until,
      callIds,
      docs: docsUrl('recovery.md#silence'),
    };
    log.error(
      fields,
      `call-webhooks: no delivery came for ${String(missed)} event${missed === 1 ? '' : 's'} of the service's calls. The rule may be paused: look at it in the service's web application, under Rules.`,
    );
    if (onMissed) callHook(onMissed, { missed, callIds, since, until, result: { ...result } });
  }
  if (failed > 0)
    log.warn(
      { ...of, failed, since, until, docs: docsUrl('recovery.md#what-failed') },
      `call-webhooks: ${String(failed)} events that had been missed, or had failed earlier, failed in this run. They run again next time, or are in the dead letters.`,
    );
  if (onRun) callHook(onRun, { ...result });
}

/** Tells of a run that ended with an error. */
export function reportError({ tenant, onError, logger }: ReconcilerSettings, error: unknown): void {
  const { text, err } = loggedError(error);
  safeLogger(logger).error(
    { ...(tenant !== undefined && { tenant }), err, docs: docsUrl('recovery.md#on-a-schedule') },
    `call-webhooks: reconciling failed, and is tried again at the next interval: ${text}`,
  );
  if (onError) callHook(onError, error);
}
