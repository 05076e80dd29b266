import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort, waitFor } from '@call-webhooks/contract-tests';

const APP = fileURLToPath(new URL('app', import.meta.url));
const INSTALL = fileURLToPath(new URL('../../../../scripts/install.mjs', import.meta.url));

/** The built app's entry points. */
export const built = (file: 'index.js' | 'handler.js') => join(APP, 'build', file);

/** What a process of the app gets: no secret unless it is given. */
function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { CALL_WEBHOOK_SECRET: _calls, RECORDING_WEBHOOK_SECRET: _recording, ...env } = process.env;
  return { ...env, ...more };
}

/** A tool, run by Node in the app. */
const run = (tool: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [tool, ...args], { cwd: APP, env: environment() });

/** The file of this name in the README. */
export function sampleOf(file: string): string {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const blocks = [...readme.matchAll(/^```ts\n([^]*?)^```/gm)].map(([, code = '']) => code);
  const found = blocks.filter((code) => code.startsWith(`// ${file}`));
  if (found.length !== 1) throw new Error(`The README has no sample of ${file}`);
  return found[0] as string;
}

/**
 * Installs and builds the app as its users do, with the README's sample as its route and without the
 * secret.
 */
export async function buildApp(): Promise<void> {
  await promisify(execFile)(process.execPath, [INSTALL, APP]);
  const sample = sampleOf('src/routes/hook/+server.ts').replace(
    /^import .*; \/\/ SvelteKit 2: (.*)$/m,
    '$1',
  );
  mkdirSync(join(APP, 'src/routes/hook'), { recursive: true });
  writeFileSync(join(APP, 'src/routes/hook/+server.ts'), sample);
  await run(join(APP, 'node_modules/vite/bin/vite.js'), 'build');
}

/** What TypeScript says about the built app, with the types that SvelteKit generated for it. */
export async function typeErrors(): Promise<string> {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const { stdout } = await run(tsc, '--project', '.').catch(
    (failed: unknown) => failed as { stdout: string },
  );
  return stdout;
}

/** The built app in a process of its own. */
export interface RunningApp {
  url: string;
  output(): string;
  stop(): Promise<void>;
}

export async function startApp(
  env: Record<string, string> = {},
  node = process.execPath,
  server = built('index.js'),
): Promise<RunningApp> {
  const port = String(await freePort());
  const child = spawn(node, [server], {
    env: environment({ ...env, PORT: port, HOST: '127.0.0.1' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await waitFor(() => output.includes('Listening on') || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`The app ended:\n${output}`);
  return {
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
