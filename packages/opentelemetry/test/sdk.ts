import diagnostics from 'node:diagnostics_channel';
import { afterAll, beforeAll, jest } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import { instrument, type InstrumentOptions, type Telemetry } from '@call-webhooks/opentelemetry';
import { createReceiver, sign, type Receiver, type ReceiverOptions } from '@call-webhooks/core';
import { context, metrics, trace, type Attributes } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { DataPointType, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';

// Jest shares Node's channels between the test files of a worker, and a receiver of an earlier file may
// still be running. Its messages are objects of another realm, which nobody here listens to.
const { subscribe, unsubscribe } = diagnostics;
type Listener = Parameters<typeof subscribe>[1];
const filtered = new Map<Listener, Listener>();

beforeAll(() => {
  diagnostics.subscribe = (name, listener) => {
    const ours: Listener = (message, from) => {
      if (message instanceof Object) listener(message, from);
    };
    filtered.set(listener, ours);
    subscribe(name, ours);
  };
  diagnostics.unsubscribe = (name, listener) =>
    unsubscribe(name, filtered.get(listener) ?? listener);
});
afterAll(() => {
  Object.assign(diagnostics, { subscribe, unsubscribe });
});

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** The real SDK, whose spans and metrics stay in memory. */
export interface OpenedSdk {
  /** The provider, for spans of a test's own. */
  readonly tracerProvider: BasicTracerProvider;
  readonly meterProvider: MeterProvider;
  /** The spans that have ended. */
  spans(): ReadableSpan[];
  /** The only span of this name. */
  span(name: string): ReadableSpan;
  /** Forgets the spans that have ended. */
  resetSpans(): void;
  /** The values of all metrics; of a histogram, its counts, and the sums of what it recorded. */
  allPoints(): Promise<{ name: string; value: number; sum?: number; attributes: Attributes }[]>;
  /** The values of a metric; of a histogram, its counts. */
  points(name: string): Promise<{ value: number; attributes: Attributes }[]>;
  /** The sum of the values of a metric whose attributes are these. */
  total(name: string, attributes?: Attributes): Promise<number>;
  /** The unit of a histogram, the sum of what it recorded, and the ends of its buckets. */
  histogram(name: string): Promise<{ unit: string; sum: number; boundaries: readonly number[] }>;
  /** The kind, the unit and the description of each metric, and the ends of its buckets. */
  instruments(): Promise<Record<string, readonly unknown[]>>;
  close(): Promise<void>;
}

export interface Sdk extends OpenedSdk {
  readonly telemetry: Telemetry;
}

/** Collects when it is asked, without timers. */
class Reader extends MetricReader {
  protected override onShutdown = () => Promise.resolve();
  protected override onForceFlush = () => Promise.resolve();
}

/** The SDK alone, which nothing is instrumented for yet. */
export function openSdk(): OpenedSdk {
  const spanExporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(spanExporter)],
  });
  const reader = new Reader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

  async function allPoints() {
    const { resourceMetrics } = await reader.collect();
    const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    return all.flatMap(({ descriptor: { name }, dataPoints }) =>
      dataPoints.map(({ value, attributes }) => ({
        name,
        ...(typeof value === 'number' ? { value } : { value: value.count, sum: value.sum ?? NaN }),
        attributes,
      })),
    );
  }

  const points = async (wanted: string) =>
    (await allPoints())
      .filter(({ name }) => name === wanted)
      .map(({ value, attributes }) => ({ value, attributes }));

  return {
    tracerProvider,
    meterProvider,
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
    async histogram(name) {
      const { resourceMetrics } = await reader.collect();
      const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
      const { descriptor, dataPoints } = all.find((one) => one.descriptor.name === name)!;
      const sums = dataPoints.map(({ value }) => (value as { sum: number }).sum);
      const [{ buckets } = { buckets: { boundaries: [] } }] = dataPoints.map(
        ({ value }) => value as { buckets: { boundaries: number[] } },
      );
      const sum = sums.reduce((one, other) => one + other, 0);
      return { unit: descriptor.unit, sum, boundaries: buckets.boundaries };
    },
    async instruments() {
      const { resourceMetrics } = await reader.collect();
      const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
      return Object.fromEntries(
        all.map(({ descriptor: { name, unit, description }, ...metric }) => {
          const isCounter = 'isMonotonic' in metric && metric.isMonotonic;
          const kind = isCounter ? 'COUNTER' : DataPointType[metric.dataPointType];
          const { buckets } = Object(metric.dataPoints[0]?.value) as {
            buckets?: { boundaries: number[] };
          };
          return [name, [kind, unit, description, ...(buckets ? [buckets.boundaries] : [])]];
        }),
      );
    },
    async close() {
      jest.useRealTimers();
      await tracerProvider.shutdown();
      await meterProvider.shutdown();
      context.disable();
      trace.disable();
      metrics.disable();
    },
  };
}

/** The SDK, and what is instrumented for it. */
export function startSdk(options: InstrumentOptions = {}): Sdk {
  const sdk = openSdk();
  const { tracerProvider, meterProvider } = sdk;
  const telemetry = instrument({ tracerProvider, meterProvider, ...options });
  const close = () => {
    telemetry.close();
    return sdk.close();
  };
  return { ...sdk, telemetry, close };
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

/** A handler that runs until it is told to end, and a way to let its delivery miss the deadline. */
export function slowHandler() {
  const [started, go] = [deferred(), deferred()];
  const on = {
    'call:started': () => {
      started.resolve();
      return go.promise;
    },
  };
  return {
    ...{ on, go },
    /**
     * Sends a delivery, and lets `ackWithin` pass once its handler runs. The clock stays a fake one until the
     * test has ended: by the real one, the lease may be over.
     */
    async missDeadline<T>(sendOne: () => Promise<T>): Promise<T> {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
      const answer = sendOne();
      await started.promise;
      await jest.advanceTimersByTimeAsync(21_000);
      return answer;
    },
  };
}
