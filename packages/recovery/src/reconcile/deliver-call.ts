import type { CallRecord } from '@call-webhooks/client';
import { eventKey, OUTCOMES, WebhookError } from '@call-webhooks/core';
import { callHook, docsUrl } from '@call-webhooks/core/internal';
import type { ReconcileSettings } from './options.ts';
import { recordingEvents } from './recordings.ts';
import { countedAs, isStopping, type Totals } from './result.ts';
import { hasEnded, type MissedEvent } from './to-events.ts';

/**
 * Delivers the events of a call that should have come by now.
 * @param until what happened after it may still come by webhook
 * @throws WebhookError if the receiver can take no events now, or an event has no key
 */
export async function deliverCall(
  call: CallRecord,
  until: Date,
  settings: ReconcileSettings,
  totals: Totals,
): Promise<void> {
  const events = [...settings.toEvents(call, { until })];
  if (settings.recordings && hasEnded(call, until, settings.fieldNames))
    events.push(...(await recordingEvents(settings, call)));
  for (const event of events) await deliverEvent(event, call, settings, totals);
}

async function deliverEvent(
  event: MissedEvent,
  { _id }: CallRecord,
  { receiver, tenant, onEvent }: ReconcileSettings,
  totals: Totals,
): Promise<void> {
  if (eventKey(event) === undefined)
    throw new WebhookError(
      'invalid-options',
      'toEvents: an event needs an eventName, and a callId or an eventId. Without them it would run each time.',
      { docs: docsUrl('recovery.md#reconcile') },
    );
  const of = tenant === undefined ? {} : { tenant };
  const result = await receiver.deliver(event, { source: 'reconcile', ...of });
  const { outcome, attempt = 1, error } = result;
  if (isStopping(result))
    throw error ?? new WebhookError(outcome, `reconcile: ${OUTCOMES[outcome].when}`);
  const counted = countedAs(result);
  totals.add(counted);
  const missed = attempt === 1 && (counted === 'handled' || counted === 'failed');
  if (missed) totals.add('missed');
  if (onEvent) callHook(onEvent, { callId: _id, event, outcome, missed });
}
