import { waitAtMost } from '@call-webhooks/core/internal';
import { diag, type Meter, type ObservableCallback } from '@opentelemetry/api';
import { EVENT, KIND, SCOPE, URGENT, type EventLabels } from './attributes.ts';

/** The part of `Status` of `@call-webhooks/recovery` that is measured. */
export interface AttentionReport {
  /** What needs attention, such as `failing`, and the event that it concerns, if it is one event. */
  readonly attention: readonly {
    readonly kind: string;
    readonly eventName?: string | undefined;
    readonly urgent: boolean;
  }[];
  /** The events of the receiver. */
  readonly events: readonly { readonly eventName: string }[];
  /** Why the status is unknown. */
  readonly unknown?: string | undefined;
}

/** The label of what concerns every event, or an unknown one. */
const ANY_EVENT = 'any';
/** `unknown`: the status could not be determined. The previous values are kept. */
const KINDS = ['store', 'failing', 'silent', 'rejected', 'missed', 'stuck', 'slow', 'unknown'];

/** How long a store or an engine may take; milliseconds. Whoever collects metrics waits for it. */
export const TIMEOUT_MS = 1_000;
/** How often the store is asked at most; milliseconds. */
const STATUS_EVERY_MS = 60_000;

/**
 * Reports what needs attention: 1, or 0 for each kind and event that is calm. While the store takes long to
 * answer, the values before stay.
 */
export function observeStatus(
  meter: Meter,
  labels: EventLabels,
  ask: () => Promise<AttentionReport>,
): () => void {
  const gauge = meter.createObservableGauge('call_webhooks.attention', {
    description: 'Whether something needs attention: 1, or 0 if all is well',
  });
  // An SDK goes on exporting a series that is not observed any more, with its last value.
  const events = new Set([ANY_EVENT]);
  let ones = new Set<string>();
  let isAnswered = false;
  let asking: Promise<void> | undefined;
  let askedAt = -Infinity;

  async function refresh(): Promise<void> {
    let report: AttentionReport;
    try {
      report = await ask();
    } catch (error) {
      report = { attention: [], events: [], unknown: String(error) };
    }
    const { attention, unknown } = report;
    for (const { eventName } of report.events) events.add(labels.of(eventName));
    const found = attention.map(({ kind, eventName, urgent }) => {
      const event = eventName === undefined ? ANY_EVENT : labels.of(eventName);
      events.add(event);
      return seriesOf(kind, event, urgent);
    });
    if (unknown === undefined) ones = new Set(found);
    else {
      // What was known before may still be so, and an alert about it must not end now.
      for (const series of [...found, seriesOf('unknown', ANY_EVENT, false)]) ones.add(series);
      diag.warn(`${SCOPE}: the status is unknown:`, unknown);
    }
    isAnswered = true;
  }

  const callback: ObservableCallback = async (result) => {
    const now = performance.now();
    if (now - askedAt >= STATUS_EVERY_MS && asking === undefined) {
      askedAt = now;
      asking = refresh().finally(() => {
        asking = undefined;
      });
    }
    if (asking) await waitAtMost(TIMEOUT_MS, asking);
    if (!isAnswered) return;
    for (const kind of KINDS)
      for (const event of events)
        for (const urgent of [true, false])
          result.observe(ones.has(seriesOf(kind, event, urgent)) ? 1 : 0, {
            [KIND]: kind,
            [EVENT]: event,
            [URGENT]: urgent,
          });
  };
  gauge.addCallback(callback);
  return () => {
    gauge.removeCallback(callback);
  };
}

const seriesOf = (kind: string, event: string, urgent: boolean): string =>
  `${kind}/${String(urgent)}/${event}`;
