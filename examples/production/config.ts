import { existsSync } from 'node:fs';

if (existsSync('.env')) process.loadEnvFile();

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set. See .env.example.`);
  return value;
}

/** Everything that this app reads from its environment. A missing variable ends it at start-up. */
export const config = {
  port: Number(process.env.PORT ?? 3000),
  /** Prometheus reads the metrics here. Do not open this port to the internet. */
  metricsPort: Number(process.env.METRICS_PORT ?? 9464),
  version: process.env.APP_VERSION ?? 'development',
  databaseUrl: required('DATABASE_URL'),
  /** Each webhook action has its own secret, and so does the recording webhook. */
  secrets: [required('CALL_WEBHOOK_SECRET'), required('RECORDING_WEBHOOK_SECRET')],
  consolePassword: required('CONSOLE_PASSWORD'),
  serviceUrl: required('SERVICE_URL'),
  apiToken: required('API_TOKEN'),
};
