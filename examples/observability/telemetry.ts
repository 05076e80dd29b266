// Starts the SDK of OpenTelemetry: metrics for Prometheus, and spans that are printed.
import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  type ReadableSpan,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';

/** One line for each span that ends, instead of Jaeger, Tempo or a vendor. */
const printed: SpanProcessor = {
  onStart: () => undefined,
  onEnd: (span) => console.log(lineOf(span)),
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

function lineOf(span: ReadableSpan): string {
  const { traceId, spanId } = span.spanContext();
  const [seconds, nanoseconds] = span.duration;
  const ms = (seconds * 1_000 + nanoseconds / 1_000_000).toFixed(1);
  return [
    `span  ${span.name.padEnd(24)} ${ms.padStart(6)} ms`,
    `trace ${traceId.slice(0, 6)}`,
    `${span.parentSpanContext?.spanId.slice(0, 6) ?? 'root'} > ${spanId.slice(0, 6)}`,
    ...span.links.map((link) => `linked to ${link.context.spanId.slice(0, 6)}`),
    String(span.attributes['call_webhooks.outcome'] ?? ''),
  ].join('  ');
}

/** @param port where the metrics are served */
export async function startSdk(port: number): Promise<{ close(): Promise<void> }> {
  const exporter = new PrometheusExporter({ host: '127.0.0.1', port, preventServerStart: true });
  await exporter.startServer();
  const meterProvider = new MeterProvider({ readers: [exporter] });
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [printed] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(tracerProvider);
  metrics.setGlobalMeterProvider(meterProvider);
  return {
    async close() {
      await tracerProvider.shutdown();
      await meterProvider.shutdown();
    },
  };
}
