import { EVENT_NAMES, OUTCOMES, type Outcome } from '@call-webhooks/core';
import type { DeliveryMessage } from '@call-webhooks/core/internal';
import type { Meter } from '@opentelemetry/api';
import { errorType, EVENT, OUTCOME, RESULT, SOURCE } from './attributes.ts';
import type { Listeners } from './channels.ts';
import type { EventLabels } from './event-labels.ts';

/** In seconds. */
const HANDLER_BOUNDARIES = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];
const LAG_BOUNDARIES = [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3_600, 14_400, 86_400];

/** Counts and measures deliveries and runs of handlers. */
export function recordMetrics(
  meter: Meter,
  labels: EventLabels,
  retryLimit: number,
  listeners: Listeners,
): void {
  countOutcomes(meter, labels, retryLimit, listeners);
  measureHandlers(meter, labels, listeners);
  countInFlight(meter, listeners);
}

function countOutcomes(
  meter: Meter,
  labels: EventLabels,
  retryLimit: number,
  listeners: Listeners,
): void {
  const deliveries = meter.createCounter('call_webhooks.deliveries', {
    description: 'Deliveries by their outcome',
    unit: '{delivery}',
  });
  const deadLetters = meter.createCounter('call_webhooks.dead_letters', {
    description: 'Events that were given up',
    unit: '{event}',
  });
  const nearRetryLimit = meter.createCounter('call_webhooks.near_retry_limit', {
    description: 'Failed attempts after which the service may soon pause the rule',
    unit: '{attempt}',
  });
  const lag = meter.createHistogram('call_webhooks.lag', {
    description: 'From the signature to the receiver; in a worker, from the receiver to the run',
    unit: 's',
    advice: { explicitBucketBoundaries: LAG_BOUNDARIES },
  });

  // Prometheus sees no increase in a series that begins with 1.
  const atZero = new Set<string>();
  const startAtZero = (event: string) => {
    if (atZero.has(event)) return;
    atZero.add(event);
    nearRetryLimit.add(0, { [EVENT]: event });
    for (const source of ['webhook', 'queue'])
      deadLetters.add(0, { [EVENT]: event, [SOURCE]: source });
  };
  EVENT_NAMES.forEach(startAtZero);
  const handled = { [OUTCOME]: 'handled', [RESULT]: 'acknowledged', [SOURCE]: 'webhook' };
  deliveries.add(0, { ...handled, [EVENT]: EVENT_NAMES[0] });

  listeners.onOutcome(({ outcome }) => {
    const { attempt = 0, lagMs, late, outcome: code, source } = outcome;
    const event = labels.of(outcome.eventName);
    const result = resultOf(outcome);
    startAtZero(event);
    if (code === 'dead-lettered') deadLetters.add(1, { [EVENT]: event, [SOURCE]: source });
    if (late) return; // the delivery was counted when it missed its deadline
    deliveries.add(1, { [OUTCOME]: code, [RESULT]: result, [EVENT]: event, [SOURCE]: source });
    if (lagMs !== undefined) lag.record(lagMs / 1_000, { [SOURCE]: source });
    if (source === 'webhook' && result === 'failed' && attempt >= retryLimit - 1)
      nearRetryLimit.add(1, { [EVENT]: event });
  });
}

function measureHandlers(meter: Meter, labels: EventLabels, listeners: Listeners): void {
  const startedAt = new WeakMap<object, number>();
  const duration = meter.createHistogram('call_webhooks.handler.duration', {
    description: 'One run of a handler, also beyond the deadline',
    unit: 's',
    advice: { explicitBucketBoundaries: HANDLER_BOUNDARIES },
  });
  listeners.onStart('handler', (message) => {
    startedAt.set(message, performance.now());
  });
  listeners.onEnd('handler', (message) => {
    const start = startedAt.get(message);
    if (start === undefined) return;
    duration.record((performance.now() - start) / 1_000, {
      [EVENT]: labels.of(message.eventName),
      [SOURCE]: message.source,
      ...(message.error && errorType(message.error)),
    });
  });
}

function countInFlight(meter: Meter, listeners: Listeners): void {
  const inFlight = meter.createUpDownCounter('call_webhooks.in_flight', {
    description: 'Deliveries that have no response yet, and jobs that run',
    unit: '{delivery}',
  });
  const started = new WeakSet();
  const count = (by: number, { source }: DeliveryMessage) => {
    inFlight.add(by, { [SOURCE]: source });
  };
  for (const source of ['webhook', 'queue']) inFlight.add(0, { [SOURCE]: source });
  listeners.onStart('delivery', (message) => {
    started.add(message);
    count(1, message);
  });
  listeners.onEnd('delivery', (message) => {
    if (started.delete(message)) count(-1, message);
  });
}

/** Whether the event came through, will be tried again, or the request may be anybody's. */
function resultOf({ outcome, status, webhookId }: Outcome): string {
  if (OUTCOMES[outcome].service === 'acknowledged') return 'acknowledged';
  return webhookId !== undefined || status >= 500 ? 'failed' : 'refused';
}
