// Starts the app with a local copy of the service, which signs with separate secrets, as the real one does.
// It needs a Postgres: docker compose up -d postgres
import { startSimulator } from '@call-webhooks/simulator';

const { PORT = '3000', SIMULATOR_PORT = '4777' } = process.env; // where `npx call-webhooks` looks for it
const apiToken = 'development';
const simulator = await startSimulator({ port: Number(SIMULATOR_PORT), apiToken });
simulator.rules.forwardTo(`http://127.0.0.1:${PORT}/hook`);
const [started, completed, recording] = simulator.secrets.all();
process.env.DATABASE_URL ??= 'postgres://postgres:postgres@127.0.0.1:5432/postgres';
process.env.CALL_WEBHOOK_SECRET = `${started},${completed}`;
process.env.RECORDING_WEBHOOK_SECRET = recording;
process.env.CONSOLE_PASSWORD ??= 'only-for-development';
process.env.SERVICE_URL = simulator.url;
process.env.API_TOKEN = apiToken;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void simulator.close());

await import('./server.ts');
