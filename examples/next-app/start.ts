// `npm start`: builds the packages and the app, then starts the app.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { generateSecret } from '@call-webhooks/core';

const { resolve } = createRequire(import.meta.url);
const app = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const next = resolve('next/dist/bin/next');
const dev = process.argv.includes('--dev');
const NODE_ENV = dev ? 'development' : 'production';
const port = process.env.PORT ?? '0'; // 0: any free port

async function run(cwd: string, args: string[], env: Record<string, string> = {}): Promise<void> {
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, NODE_ENV, NEXT_TELEMETRY_DISABLED: '1', ...env },
  });
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    child.once('exit', () => process.exit());
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const [code] = (await once(child, 'exit')) as [number | null];
  process.off('SIGINT', stop).off('SIGTERM', stop);
  if (code !== 0) process.exit(code ?? 1);
}

await run(root, [
  resolve('typescript/bin/tsc'),
  '-b',
  'packages/next/tsconfig.json',
  'packages/next/tsconfig.cjs.json',
]);
await run(root, ['scripts/mark-cjs.mjs']);
await run(`${root}/packages/core`, [resolve('tsdown/run'), '--logLevel', 'error']);

if (!dev) await run(app, [next, 'build']);

// The build needs no secret; the server does.
const { CALL_WEBHOOK_SECRET = generateSecret() } = process.env;
if (process.env.CALL_WEBHOOK_SECRET === undefined) {
  console.log(`CALL_WEBHOOK_SECRET is not set. Using a new one: ${CALL_WEBHOOK_SECRET}`);
}
await run(app, [next, dev ? 'dev' : 'start', '-p', port], { CALL_WEBHOOK_SECRET });
