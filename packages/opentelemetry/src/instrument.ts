import type { Around } from '@call-webhooks/core';
import { checkOptions, option } from '@call-webhooks/core/internal';
import { metrics, trace, type MeterProvider, type TracerProvider } from '@opentelemetry/api';
import { Listeners } from './channels.ts';
import { EventLabels } from './event-labels.ts';
import { recordMetrics } from './metrics.ts';
import { observeQueues, type QueueDepth } from './queue-gauges.ts';
import { Spans } from './spans.ts';

/** Options of `instrument`. */
export interface InstrumentOptions {
  /** Where spans go; the global one by default. */
  tracerProvider?: TracerProvider | undefined;
  /** Where metrics go; the global one by default. */
  meterProvider?: MeterProvider | undefined;
  /**
   * How many jobs each of your queues has, by name: a number, or an object with one for each state.
   * Called each time that metrics are collected; it has one second to answer.
   * @example
   * queues: {
   *   sqlite: () => worker.stats(),
   *   bullmq: () => queue.getJobCounts(),
   *   pgboss: () => boss.getQueueSize('call-webhooks'),
   * }
   */
  queues?: Record<string, QueueDepth> | undefined;
  /** How many dead letters are kept: `() => deadLetters.count()`. */
  deadLetters?: (() => number | Promise<number>) | undefined;
  /**
   * How often the service tries a delivery before it pauses the rule, the first time included; 6 by
   * default, which is a guess. Failures from the last but one on count as `near_retry_limit`.
   */
  retryLimit?: number | undefined;
  /**
   * How many event names, besides those of the service, are told apart in metrics and span names; 20
   * by default. Further ones are `other`.
   */
  maxEventNames?: number | undefined;
}

/** What `instrument` returns. */
export interface Telemetry {
  /**
   * For the option `around` of receivers and workers: makes the handler's span the active one. Without
   * it, spans of your database or of `fetch` are not children of the handler's span.
   */
  readonly around: Around;
  /** Stops making spans and metrics. The providers stay open. */
  close(): void;
}

const NAME = '@call-webhooks/opentelemetry';

const rules = () => ({
  tracerProvider: option.optional(option.object<TracerProvider>('getTracer')),
  meterProvider: option.optional(option.object<MeterProvider>('getMeter')),
  queues: option.default(option.record(option.function<QueueDepth>()), {}),
  deadLetters: option.optional(option.function<() => number | Promise<number>>()),
  retryLimit: option.default(option.count(2, 1_000), 6),
  maxEventNames: option.default(option.count(0, 1_000), 20),
});

/**
 * Makes spans and metrics of everything that the receivers and workers of this process do. Call it
 * once, after the SDK of OpenTelemetry was started.
 * @throws WebhookError `invalid-options`
 * @example
 * const telemetry = instrument();
 * const hook = callWebhooks({ secret, on, around: telemetry.around });
 */
export function instrument(options: InstrumentOptions = {}): Telemetry {
  const settings = checkOptions('instrument', rules(), options);
  const {
    tracerProvider = trace.getTracerProvider(),
    meterProvider = metrics.getMeterProvider(),
    queues,
    deadLetters,
    retryLimit,
    maxEventNames,
  } = settings;
  const meter = meterProvider.getMeter(NAME);
  const labels = new EventLabels(maxEventNames);
  const listeners = new Listeners();
  const spans = new Spans(tracerProvider.getTracer(NAME), labels);
  spans.listen(listeners);
  recordMetrics(meter, labels, retryLimit, listeners);
  const stopObserving = observeQueues(meter, queues, deadLetters);
  return {
    around: spans.around,
    close() {
      listeners.close();
      stopObserving();
    },
  };
}
