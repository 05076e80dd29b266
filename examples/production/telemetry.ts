import type { Store } from '@call-webhooks/express';
import { instrument } from '@call-webhooks/opentelemetry';
import { status } from '@call-webhooks/recovery';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

interface Watched {
  store: Store;
  deadLetters: { count(): Promise<number> };
}

/** Serves metrics for Prometheus, with what needs attention. The alert rules are in docs/observability. */
export async function startTelemetry(port: number, { store, deadLetters }: Watched) {
  const exporter = new PrometheusExporter({ port, preventServerStart: true });
  await exporter.startServer();
  const meterProvider = new MeterProvider({ readers: [exporter] });
  const telemetry = instrument({
    meterProvider,
    deadLetters: () => deadLetters.count(),
    status: () => status({ store }),
  });
  return { around: telemetry.around, close: () => meterProvider.shutdown() };
}
