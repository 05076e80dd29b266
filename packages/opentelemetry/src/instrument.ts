import type { Around } from '@call-webhooks/core';
import { checkOptions, option } from '@call-webhooks/core/internal';
import { diag, metrics, trace, type MeterProvider, type TracerProvider } from '@opentelemetry/api';
import type { AttentionReport } from './attention.ts';
import { EventLabels, SCOPE } from './attributes.ts';
import { Listeners } from './channels.ts';
import { listenForMetrics, type QueueDepth } from './metrics.ts';
import { listenForSpans } from './spans.ts';

/** The options of `instrument`. */
export interface InstrumentOptions {
  /** Where spans go; the global tracer provider by default. */
  tracerProvider?: TracerProvider | undefined;
  /** Where metrics go; the global meter provider by default. */
  meterProvider?: MeterProvider | undefined;
  /**
   * Functions that return the number of jobs of each of your queues, by the name of the queue: one
   * number, or an object with a number for each state. They are called whenever metrics are collected,
   * and have one second to answer. There are none by default.
   * @example
   * queues: {
   *   sqlite: () => worker.stats(),
   *   bullmq: () => queue.getJobCounts(),
   *   pgboss: () => boss.getQueueSize('call-webhooks'),
   * }
   */
  queues?: Record<string, QueueDepth> | undefined;
  /**
   * A function that returns the number of dead letters: `() => deadLetters.count()`. It is called
   * whenever metrics are collected. There is none by default.
   */
  deadLetters?: (() => number | Promise<number>) | undefined;
  /**
   * A function that returns what needs attention, for the gauge `call_webhooks.attention`: `status` of
   * `@call-webhooks/recovery`, with the store of your receiver. It is called when metrics are
   * collected, at most once a minute. There is none by default.
   * @example
   * instrument({ status: () => status({ store }) });
   */
  status?: (() => Promise<AttentionReport>) | undefined;
}

/** What `instrument` returns. */
export interface Telemetry {
  /**
   * Pass it as the option `around` of receivers and workers: it makes the handler's span the active
   * one. Without it, spans of your database or of `fetch` are not children of the handler's span.
   */
  readonly around: Around;
  /**
   * Stops creating spans and metrics, after which `instrument` may be called again. The providers stay
   * open.
   */
  close(): void;
}

const rules = () => ({
  tracerProvider: option.optional(option.object<TracerProvider>('getTracer')),
  meterProvider: option.optional(option.object<MeterProvider>('getMeter')),
  queues: option.default(option.record(option.function<QueueDepth>()), {}),
  deadLetters: option.optional(option.function<() => number | Promise<number>>()),
  status: option.optional(option.function<() => Promise<AttentionReport>>()),
});

/** Where all copies of this package find what is instrumented: there may be one of ESM and one of CommonJS. */
const ACTIVE = Symbol.for(SCOPE);

/**
 * Creates spans and metrics for everything that the receivers and workers of this process do. Call it
 * once. The OpenTelemetry SDK may be started later, but then the queue gauges begin with the first
 * delivery. A second call has no effect, and logs a warning with `diag`, until the first one is closed.
 * @throws WebhookError `invalid-options`
 * @example
 * const telemetry = instrument();
 * const hook = callWebhooks({ secret, on, around: telemetry.around });
 */
export function instrument(options: InstrumentOptions = {}): Telemetry {
  const settings = checkOptions('instrument', rules(), options);
  const shared = globalThis as { [ACTIVE]?: Telemetry | undefined };
  if (shared[ACTIVE]) {
    diag.warn(
      `${SCOPE}: instrument() was already called, and covers the whole process. This call has no effect. To instrument again, call close() on the result of the first call.`,
    );
    return { around: shared[ACTIVE].around, close: () => undefined };
  }
  const { tracerProvider, meterProvider } = settings;
  const labels = new EventLabels();
  const listeners = new Listeners();
  // Unlike that of meters, the global provider of tracers passes on to the SDK once there is one.
  const tracer = (tracerProvider ?? trace).getTracer(SCOPE);
  const around = listenForSpans(listeners, tracer, labels);
  const provider = () => meterProvider ?? metrics.getMeterProvider();
  const stopGauges = listenForMetrics(listeners, provider, labels, settings);
  const telemetry: Telemetry = {
    around,
    close() {
      listeners.close();
      stopGauges();
      if (shared[ACTIVE] === telemetry) shared[ACTIVE] = undefined;
    },
  };
  shared[ACTIVE] = telemetry;
  return telemetry;
}
