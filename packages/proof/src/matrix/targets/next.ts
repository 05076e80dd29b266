import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { generateSecret } from '@call-webhooks/core';
import type { Target, TargetKind } from '../target.ts';

const APP = fileURLToPath(new URL('../../../../../examples/next-app', import.meta.url));
const HOST = '127.0.0.1';

interface NextApp {
  readonly port: number;
  readonly secret: string;
  stop(): Promise<void>;
}

/** Builds and starts the Next.js example, as its `npm start` does. */
export async function startNextApp(): Promise<NextApp> {
  const secret = generateSecret();
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--conditions=@call-webhooks/source', 'start.ts'],
    { cwd: APP, detached: true, env: { ...process.env, CALL_WEBHOOK_SECRET: secret, PORT: '0' } },
  );
  return { port: await portOf(child), secret, stop: () => stop(child) };
}

/** One of the app's routes, as a target. */
export const nextTarget = (name: string, app: NextApp, path: string): TargetKind => ({
  name,
  shared: true,
  start: () =>
    Promise.resolve<Target>({
      host: HOST,
      port: app.port,
      path,
      secret: app.secret,
      patienceMs: 8_000, // the example has the default bodyTimeout, 5 s
      takeLog: () => undefined,
      close: () => Promise.resolve(),
    }),
});

async function portOf(child: ChildProcess): Promise<number> {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data: Buffer) => {
      output += data.toString();
      child.emit('said');
    });
  const over = AbortSignal.timeout(240_000);
  child.once('exit', () => child.emit('said'));
  for (;;) {
    const match = /http:\/\/localhost:(\d+)[\s\S]*Ready/.exec(output);
    if (match) return Number(match[1]);
    if (over.aborted || child.exitCode !== null) throw new Error(`Next did not start:\n${output}`);
    await once(child, 'said', { signal: over }).catch(() => undefined);
  }
}

/** The whole group: the starter runs Next as a process of its own. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  process.kill(-child.pid, 'SIGTERM');
  await exited;
}
