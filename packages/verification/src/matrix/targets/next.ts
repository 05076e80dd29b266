import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateSecret } from '@call-webhooks/core';
import type { Target, TargetFactory } from '../target.ts';

const APP = fileURLToPath(new URL('../../../../../examples/next-app', import.meta.url));
const NEXT = createRequire(join(APP, 'start.ts')).resolve('next/dist/bin/next');
const SHORT_TIMEOUT = new URL('short-headers-timeout.mjs', import.meta.url).href;
const HOST = '127.0.0.1';

interface NextApp {
  readonly port: number;
  readonly secret: string;
  /** The port of a second server of the same build with this limit for headers. */
  portWith(headersTimeoutMs: number): Promise<number>;
  stop(): Promise<void>;
}

/** Builds and starts the Next.js example like its `npm start`. */
export async function startNextApp(): Promise<NextApp> {
  const secret = generateSecret();
  const env = { ...process.env, CALL_WEBHOOK_SECRET: secret };
  const run = (args: string[], more: NodeJS.ProcessEnv) =>
    spawn(process.execPath, args, { cwd: APP, detached: true, env: { ...env, ...more } });
  const first = run(['--import', 'tsx', '--conditions=@call-webhooks/source', 'start.ts'], {
    PORT: '0',
  });
  const children = [first];
  const short = new Map<number, Promise<number>>();
  return {
    port: await portOf(first),
    secret,
    portWith(headersTimeoutMs) {
      const started = short.get(headersTimeoutMs);
      if (started) return started;
      const child = run(['--import', SHORT_TIMEOUT, NEXT, 'start', '-p', '0'], {
        NODE_ENV: 'production',
        HEADERS_TIMEOUT_MS: String(headersTimeoutMs),
      });
      children.push(child);
      const port = portOf(child);
      short.set(headersTimeoutMs, port);
      return port;
    },
    async stop() {
      await Promise.all(children.map(stop));
    },
  };
}

/** One of the app's routes as a target. */
export const nextTarget = (name: string, app: NextApp, path: string): TargetFactory => ({
  name,
  shared: true,
  start: async ({ headersTimeoutMs } = {}): Promise<Target> => ({
    host: HOST,
    port: headersTimeoutMs === undefined ? app.port : await app.portWith(headersTimeoutMs),
    path,
    secret: app.secret,
    timeoutMs: 8_000, // the example has the default bodyTimeout of 5 s
    takeLog: () => undefined,
    close: () => Promise.resolve(),
  }),
});

async function portOf(child: ChildProcess): Promise<number> {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data: Buffer) => {
      output += data.toString();
      child.emit('output');
    });
  const timedOut = AbortSignal.timeout(240_000);
  child.once('exit', () => child.emit('output'));
  for (;;) {
    const match = /http:\/\/localhost:(\d+)[\s\S]*Ready/.exec(output);
    if (match) return Number(match[1]);
    if (timedOut.aborted || child.exitCode !== null)
      throw new Error(`Next did not start:\n${output}`);
    await once(child, 'output', { signal: timedOut }).catch(() => undefined);
  }
}

/** Stops the whole process group: the start script runs Next in another process. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  process.kill(-child.pid, 'SIGTERM');
  await exited;
}
