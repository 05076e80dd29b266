// Starts the app with a local copy of the service, which signs with separate secrets, as the real one.
import { startSimulator } from '@call-webhooks/simulator';
import { path, port } from './config.ts';

const { SIMULATOR_PORT = '4777' } = process.env; // where `npx call-webhooks` looks for it
const simulator = await startSimulator({ port: Number(SIMULATOR_PORT) });
simulator.rules.forwardTo(`http://127.0.0.1:${port}${path}`);
const [started, completed, recording] = simulator.secrets.all();
process.env.CALL_WEBHOOK_SECRET = `${started},${completed}`;
process.env.RECORDING_WEBHOOK_SECRET = recording;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void simulator.close());

await import('./server.ts');
