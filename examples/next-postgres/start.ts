// Starts the app with the Postgres server of DATABASE_URL, or with a private one for this run only.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { generateSecret } from '@call-webhooks/core';
import { postgresBinaries, startPostgres } from '@call-webhooks/contract-tests/servers/postgres';

const next = createRequire(import.meta.url).resolve('next/dist/bin/next');
const app = fileURLToPath(new URL('.', import.meta.url));
const dev = process.argv.includes('--dev');
const { CALL_WEBHOOK_SECRET = generateSecret(), PORT = '0' } = process.env;
if (process.env.CALL_WEBHOOK_SECRET === undefined)
  console.log(`CALL_WEBHOOK_SECRET is not set. Using a new one: ${CALL_WEBHOOK_SECRET}`);

if (process.env.DATABASE_URL === undefined && postgresBinaries() === undefined) {
  console.error('Set DATABASE_URL, or install Postgres (Debian: apt install postgresql).');
  process.exit(1);
}
const own = process.env.DATABASE_URL === undefined ? await startPostgres() : undefined;
const DATABASE_URL = process.env.DATABASE_URL ?? own?.url;

const stop = new AbortController();
async function run(args: string[]): Promise<number> {
  const child = spawn(process.execPath, [next, ...args], {
    cwd: app,
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_ENV: dev ? 'development' : 'production',
      NEXT_TELEMETRY_DISABLED: '1',
      CALL_WEBHOOK_SECRET,
      DATABASE_URL,
    },
  });
  const end = (signal: NodeJS.Signals) => {
    stop.abort();
    child.kill(signal);
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  const [code] = (await once(child, 'exit')) as [number | null];
  process.off('SIGINT', end).off('SIGTERM', end);
  return stop.signal.aborted ? 0 : (code ?? 1);
}

let code = dev ? 0 : await run(['build']);
if (code === 0 && !stop.signal.aborted) code = await run([dev ? 'dev' : 'start', '-p', PORT]);
await own?.remove();
process.exit(code);
