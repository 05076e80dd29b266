// A machine whose store is a Postgres with the clock of the test, with a console and metrics of its own.
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createConsole } from '@call-webhooks/console';
import { callWebhooks } from '@call-webhooks/express';
import { instrument } from '@call-webhooks/opentelemetry';
import { postgresStore } from '@call-webhooks/postgres';
import { status } from '@call-webhooks/recovery';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import express from 'express';
import { Pool } from 'pg';
import type { Outside } from './machine.ts';

/** What the machine is started with: JSON in its only argument. */
export interface ObservedMachineInput {
  postgresUrl: string;
  outside: string;
  secrets: Record<string, string[]>;
}

const input = JSON.parse(process.argv[2] ?? '') as ObservedMachineInput;
const now = () => (JSON.parse(readFileSync(input.outside, 'utf8')) as Outside).now;
const line = (level: string) => (fields: object, message: string) =>
  process.send?.({
    line: { level, message, fields: JSON.parse(JSON.stringify(fields)) as object },
  });
const logger = { warn: line('warn'), error: line('error') };
const pool = new Pool({ connectionString: input.postgresUrl });
const store = postgresStore(pool, { now });
const exporter = new PrometheusExporter({ preventServerStart: true });
const { around } = instrument({
  meterProvider: new MeterProvider({ readers: [exporter] }),
  status: () => status({ store }),
});
const hook = callWebhooks({
  ...{ secret: input.secrets[''], store, around, now, logger },
  on: {
    'call:started': () => undefined,
    'call:completed': () => undefined,
    'call:recording-available': () => undefined,
  },
});
const ops = createConsole({
  ...{ receiver: hook.receiver, authorize: () => true, logger },
  clock: { now, schedule: () => () => undefined },
});
const server = express()
  .use('/hook', hook)
  .use('/ops', ops)
  .get('/metrics', exporter.getMetricsRequestHandler.bind(exporter))
  .listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on('disconnect', () => process.exit(1)); // the test is gone
