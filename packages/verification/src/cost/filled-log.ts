import type { Store } from '@call-webhooks/core';
import { counterName, type OutcomeBatch } from '@call-webhooks/core/stores';

const [MINUTE, TEN_MINUTES] = [60_000, 600_000];
/** A batch for each minute of 50 hours. */
const BATCHES = 3_000;
const AT_ONCE = 20;
const EVENTS = ['call:started', 'call:completed', 'call:recording-available'];

/**
 * Fills the outcome log of a store with 50 hours: in each minute six handled deliveries, and one that failed if
 * `failing`. The failures are of different events, none of which was retried.
 */
export async function fillLog({ log }: Store, { failing }: { failing: boolean }): Promise<void> {
  if (!log) throw new Error('The store keeps no outcome log.');
  const now = Date.now();
  for (let from = 0; from < BATCHES; from += AT_ONCE) {
    const batches = Array.from({ length: AT_ONCE }, (_, index) =>
      batchOf(from + index, now, failing),
    );
    await Promise.all(batches.map((batch) => log.append(batch)));
  }
}

function batchOf(index: number, now: number, failing: boolean): OutcomeBatch {
  const at = now - (BATCHES - index) * MINUTE;
  const row = (number: number) => {
    const [webhookId, callId] = [
      `w${String(index)}-${String(number)}`,
      `c${String(index)}-${String(number)}`,
    ];
    return {
      ...{ at: at + number, process: 'p', durationMs: 9, source: 'webhook' as const },
      ...{ webhookId, callId, eventName: 'call:completed', key: `${callId}:call:completed` },
    };
  };
  const ofEvents = <Value>(nameOf: (event: string) => string, value: Value) =>
    Object.fromEntries(EVENTS.map((event) => [nameOf(event), value]));
  const tookMs = {
    [counterName('deliveryMs', 'call:completed', '12')]: 2,
    [counterName('storeMs', '9')]: 2,
  };
  return {
    id: `b${String(index)}`,
    rows: [1, 2, 3, 4, 5, 6].map((number) => ({ ...row(number), outcome: 'handled' })),
    failures: failing
      ? [{ ...row(7), outcome: 'handler-failed', attempt: 1, error: 'Error: The CRM is down.' }]
      : [],
    counts: {
      minutes: {
        [Math.floor(at / MINUTE)]: ofEvents(
          (event) => counterName('outcome', 'webhook', 'handled', event),
          2,
        ),
      },
      times: { [Math.floor(at / TEN_MINUTES)]: tookMs },
      arrivals: { [Math.floor(at / TEN_MINUTES)]: ofEvents((event) => counterName(event, ''), 2) },
    },
    marks: ofEvents((event) => counterName('ack', '', event, 's1'), now),
    process: { id: 'p', host: 'h', pid: 1, startedAt: now - 1e9, at: now, inFlight: 0 },
  };
}
