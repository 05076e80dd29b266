import { existsSync } from 'node:fs';

if (existsSync('.env')) process.loadEnvFile();

export const port = Number(process.env.PORT ?? 3000);
/** Where a worker says whether it is well. */
export const workerPort = Number(process.env.WORKER_PORT ?? 3001);
export const path = '/hook';

/** The rule's webhook action and the recording webhook have separate secrets. */
export const secretsOf = (env: Partial<NodeJS.ProcessEnv>) =>
  ['CALL_WEBHOOK_SECRET', 'RECORDING_WEBHOOK_SECRET'].map((name) => {
    const secret = env[name];
    if (!secret) throw new Error(`${name} is not set. See .env.example.`);
    return secret;
  });
