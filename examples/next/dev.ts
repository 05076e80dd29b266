// Starts the app with a local copy of the service, which signs with separate secrets, as the real one.
import { spawn } from 'node:child_process';
import { startSimulator } from '@call-webhooks/simulator';
import './load-env.js';

const { PORT = '3000', SIMULATOR_PORT = '4777' } = process.env; // where `npx call-webhooks` looks for it
const simulator = await startSimulator({ port: Number(SIMULATOR_PORT) });
simulator.rules.forwardTo(`http://127.0.0.1:${PORT}/hook`); // of app/hook/route.ts
const [started, completed, recording] = simulator.secrets.all();

const next = spawn(process.execPath, ['node_modules/next/dist/bin/next', 'dev'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    PORT,
    CALL_WEBHOOK_SECRET: `${started},${completed}`,
    RECORDING_WEBHOOK_SECRET: recording,
  },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => next.kill(signal));
next.once('exit', () => void simulator.close());
