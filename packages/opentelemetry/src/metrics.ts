import { EVENT_NAMES, OUTCOMES, type Outcome } from '@call-webhooks/core';
import { waitAtMost } from '@call-webhooks/core/internal';
import {
  diag,
  type Meter,
  type MeterProvider,
  type ObservableCallback,
  type ObservableGauge,
  type ObservableResult,
} from '@opentelemetry/api';
import {
  errorType,
  EVENT,
  OUTCOME,
  QUEUE,
  RESULT,
  SCOPE,
  SOURCE,
  STATE,
  type EventLabels,
} from './attributes.ts';
import { type AttentionReport, observeStatus, TIMEOUT_MS } from './attention.ts';
import type { Listeners } from './channels.ts';

/** Returns the number of jobs of a queue: one number, or an object with a number for each state. */
export type QueueDepth = () => number | object | Promise<number | object>;

/** What is measured besides deliveries. */
export interface MetricsSettings {
  readonly queues: Record<string, QueueDepth>;
  readonly deadLetters: (() => number | Promise<number>) | undefined;
  readonly status: (() => Promise<AttentionReport>) | undefined;
}

/** In seconds. */
const HANDLER_BOUNDARIES = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];
const LAG_BOUNDARIES = [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3_600, 14_400, 86_400];

const createInstruments = (meter: Meter) => ({
  deliveries: meter.createCounter('call_webhooks.deliveries', {
    description: 'Deliveries by their outcome',
    unit: '{delivery}',
  }),
  deadLetters: meter.createCounter('call_webhooks.dead_letters', {
    description: 'Events that were given up',
    unit: '{event}',
  }),
  lag: meter.createHistogram('call_webhooks.lag', {
    description: 'From the signature to the receiver; in a worker, from the receiver to the run',
    unit: 's',
    advice: { explicitBucketBoundaries: LAG_BOUNDARIES },
  }),
  handlerDuration: meter.createHistogram('call_webhooks.handler.duration', {
    description: 'Duration of one run of a handler, including time beyond the deadline',
    unit: 's',
    advice: { explicitBucketBoundaries: HANDLER_BOUNDARIES },
  }),
  inFlight: meter.createUpDownCounter('call_webhooks.in_flight', {
    description: 'Deliveries without a response yet, and running jobs',
    unit: '{delivery}',
  }),
});

type Instruments = ReturnType<typeof createInstruments>;

/**
 * Counts and measures deliveries, runs of handlers, and queues.
 * @param providerNow the global one may be set after `instrument` was called
 * @returns stops the gauges
 */
export function listenForMetrics(
  listeners: Listeners,
  providerNow: () => MeterProvider,
  labels: EventLabels,
  settings: MetricsSettings,
): () => void {
  const startedAt = new WeakMap<object, number>();
  const atZero = new Set<string>();
  let current: { provider: MeterProvider; instruments: Instruments; stop: () => void } | undefined;

  function instrumentsNow(): Instruments {
    const provider = providerNow();
    if (current?.provider === provider) return current.instruments;
    current?.stop();
    const meter = provider.getMeter(SCOPE);
    const instruments = createInstruments(meter);
    current = { provider, instruments, stop: observeStores(meter, labels, settings) };
    atZero.clear();
    for (const event of EVENT_NAMES) startAtZero(event, instruments);
    const handled = { [OUTCOME]: 'handled', [RESULT]: 'acknowledged', [SOURCE]: 'webhook' };
    instruments.deliveries.add(0, { ...handled, [EVENT]: EVENT_NAMES[0] });
    for (const source of ['webhook', 'queue']) instruments.inFlight.add(0, { [SOURCE]: source });
    return instruments;
  }

  /** Prometheus sees no increase in a series that begins with 1. */
  function startAtZero(event: string, { deadLetters }: Instruments): void {
    if (atZero.has(event)) return;
    atZero.add(event);
    for (const source of ['webhook', 'queue', 'reconcile'])
      deadLetters.add(0, { [EVENT]: event, [SOURCE]: source });
  }

  instrumentsNow();
  listeners.onOutcome(({ outcome }) => {
    const { lagMs, late, outcome: code, source } = outcome;
    const instruments = instrumentsNow();
    const { deadLetters, deliveries, lag } = instruments;
    const event = labels.of(outcome.eventName);
    const result = resultOf(outcome);
    startAtZero(event, instruments);
    if (code === 'dead-lettered') deadLetters.add(1, { [EVENT]: event, [SOURCE]: source });
    if (late) return; // the delivery was counted when it missed its deadline
    deliveries.add(1, { [OUTCOME]: code, [RESULT]: result, [EVENT]: event, [SOURCE]: source });
    if (lagMs !== undefined) lag.record(lagMs / 1_000, { [SOURCE]: source });
  });
  listeners.onStart('handler', (message) => {
    startedAt.set(message, performance.now());
  });
  listeners.onEnd('handler', (message) => {
    const start = startedAt.get(message);
    if (start === undefined) return;
    instrumentsNow().handlerDuration.record((performance.now() - start) / 1_000, {
      [EVENT]: labels.of(message.eventName),
      [SOURCE]: message.source,
      ...(message.error && errorType(message.error)),
    });
  });
  const counted = new WeakMap<object, Instruments['inFlight']>();
  listeners.onStart('delivery', (message) => {
    const { inFlight } = instrumentsNow();
    counted.set(message, inFlight);
    inFlight.add(1, { [SOURCE]: message.source });
  });
  listeners.onEnd('delivery', (message) => {
    counted.get(message)?.add(-1, { [SOURCE]: message.source });
  });
  return () => current?.stop();
}

/** Whether the event was acknowledged, will be retried, or the request may be from any sender. */
function resultOf({ outcome, status, webhookId }: Outcome): string {
  if (OUTCOMES[outcome].service === 'acknowledged') return 'acknowledged';
  return webhookId !== undefined || status >= 500 ? 'failed' : 'rejected';
}

/** Reports the counts of stores and queues each time that metrics are collected. @returns stops that */
function observeStores(
  meter: Meter,
  labels: EventLabels,
  { queues, deadLetters, status }: MetricsSettings,
): () => void {
  const depth = meter.createObservableGauge('call_webhooks.queue.depth', {
    description: 'Jobs of a queue by their state',
    unit: '{job}',
  });
  const undo = Object.entries(queues).map(([queue, ask]) =>
    observe(depth, `the queue ${queue}`, ask, (counts, result) => {
      const states = typeof counts === 'number' ? { waiting: counts } : counts;
      for (const [state, count] of Object.entries(states) as [string, unknown][])
        if (typeof count === 'number') result.observe(count, { [QUEUE]: queue, [STATE]: state });
    }),
  );
  if (deadLetters) {
    const kept = meter.createObservableGauge('call_webhooks.dead_letters.kept', {
      description: 'Dead letters that have not been redriven or removed',
      unit: '{event}',
    });
    undo.push(
      observe(kept, 'the dead letters', deadLetters, (count, result) => {
        result.observe(count);
      }),
    );
  }
  if (status) undo.push(observeStatus(meter, labels, status));
  return () => {
    for (const stop of undo) stop();
  };
}

/** Observes what an engine answers. One that fails or hangs must not fail the whole collection. */
function observe<Answer>(
  gauge: ObservableGauge,
  what: string,
  ask: () => Answer | Promise<Answer>,
  tell: (answer: Answer, result: ObservableResult) => void,
): () => void {
  const callback: ObservableCallback = async (result) => {
    let answer: Answer | undefined;
    let problem: unknown = `no answer within ${String(TIMEOUT_MS)} ms`;
    const asking = async () => {
      answer = await ask();
    };
    await waitAtMost(
      TIMEOUT_MS,
      asking().catch((error: unknown) => {
        problem = error;
      }),
    );
    if (answer === undefined) diag.warn(`${SCOPE}: ${what} cannot be counted:`, problem);
    else tell(answer, result);
  };
  gauge.addCallback(callback);
  return () => {
    gauge.removeCallback(callback);
  };
}
