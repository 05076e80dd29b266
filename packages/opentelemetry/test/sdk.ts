import { instrument, type InstrumentOptions, type Telemetry } from '@call-webhooks/opentelemetry';
import { createReceiver, sign, type Receiver, type ReceiverOptions } from '@call-webhooks/core';
import { context, trace, type Attributes } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** The real SDK, whose spans and metrics stay in memory. */
export interface Sdk {
  readonly telemetry: Telemetry;
  /** The provider, for spans of a test's own. */
  readonly tracerProvider: BasicTracerProvider;
  /** The spans that have ended. */
  spans(): ReadableSpan[];
  /** The only span of this name. */
  span(name: string): ReadableSpan;
  /** Forgets the spans that have ended. */
  resetSpans(): void;
  /** The values of all metrics. */
  allPoints(): Promise<{ name: string; value: number; attributes: Attributes }[]>;
  /** The values of a metric; of a histogram, its counts. */
  points(name: string): Promise<{ value: number; attributes: Attributes }[]>;
  /** The sum of the values of a metric whose attributes are these. */
  total(name: string, attributes?: Attributes): Promise<number>;
  close(): Promise<void>;
}

/** Collects when it is asked, without timers. */
class Reader extends MetricReader {
  protected override onShutdown = () => Promise.resolve();
  protected override onForceFlush = () => Promise.resolve();
}

export function startSdk(options: InstrumentOptions = {}): Sdk {
  const spanExporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(spanExporter)],
  });
  const reader = new Reader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const telemetry = instrument({ tracerProvider, meterProvider, ...options });

  async function allPoints() {
    const { resourceMetrics } = await reader.collect();
    const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    return metrics.flatMap(({ descriptor: { name }, dataPoints }) =>
      dataPoints.map(({ value, attributes }) => ({
        name,
        value: typeof value === 'number' ? value : value.count,
        attributes,
      })),
    );
  }

  const points = async (wanted: string) =>
    (await allPoints())
      .filter(({ name }) => name === wanted)
      .map(({ value, attributes }) => ({ value, attributes }));

  return {
    telemetry,
    tracerProvider,
    spans: () => spanExporter.getFinishedSpans(),
    span(name) {
      const spans = spanExporter.getFinishedSpans();
      const [span, ...more] = spans.filter((one) => one.name === name);
      if (!span || more.length > 0)
        throw new Error(`Not one "${name}": ${spans.map((one) => one.name).join(', ')}`);
      return span;
    },
    resetSpans: () => {
      spanExporter.reset();
    },
    allPoints,
    points,
    async total(name, attributes = {}) {
      const wanted = Object.entries(attributes);
      const found = (await points(name)).filter((point) =>
        wanted.every(([key, value]) => point.attributes[key] === value),
      );
      return found.reduce((sum, { value }) => sum + value, 0);
    },
    async close() {
      telemetry.close();
      await tracerProvider.shutdown();
      await meterProvider.shutdown();
      context.disable();
      trace.disable();
    },
  };
}

export const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;
export const idOf = (span: ReadableSpan) => span.spanContext().spanId;

/** A receiver that logs nothing, and a way to send events to it. */
export function receiverOf(options: Partial<ReceiverOptions<never, never>>) {
  const receiver = createReceiver({
    secret: SECRET,
    logger: { warn: () => undefined, error: () => undefined },
    ...options,
  });
  return { receiver, send: (payload: object | Uint8Array) => send(receiver, payload) };
}

export async function send(receiver: Receiver, payload: object | Uint8Array, secondsAgo = 0) {
  const body =
    payload instanceof Uint8Array ? payload : new TextEncoder().encode(JSON.stringify(payload));
  const timestamp = Math.floor(Date.now() / 1_000) - secondsAgo;
  const headers = await sign({ secret: SECRET, body, timestamp });
  return (await receiver.receive({ method: 'POST', headers, body })).outcome.outcome;
}
