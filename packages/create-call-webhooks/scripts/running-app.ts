import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { generateSecret } from '@call-webhooks/core';
import {
  callCompleted,
  callRecordingAvailable,
  callStarted,
  signedRequest,
} from '@call-webhooks/testing';
import { freePort } from '@call-webhooks/contract-tests/servers/free-port';
import { environment } from './run.ts';

/** How `next start` ends after SIGTERM, when its requests are done. */
const NEXT_STOPPED = 143;

interface RunningApp {
  /** Delivers an event. @returns the outcome */
  readonly deliver: (event: object, secret?: string) => Promise<string>;
  /** Stops it with SIGTERM. @returns its exit code */
  stop(): Promise<number | null>;
  /** Ends it, if it still runs. */
  kill(): void;
}

/**
 * Starts an app with what its `npm start` says, and its own `.env`.
 * @param env the addresses of the servers
 */
async function startApp(app: string, env: NodeJS.ProcessEnv): Promise<RunningApp> {
  const { scripts } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const own = readFileSync(join(app, '.env'), 'utf8').match(/^CALL_WEBHOOK_SECRET=(.*)$/m)?.[1];
  const port = String(await freePort());
  const [command = '', ...args] = scripts.start.split(' ');
  const inherited = environment();
  const programs = resolve(app, '../../node_modules/.bin');
  const child = spawn(command, args, {
    cwd: app,
    env: {
      ...inherited,
      ...env,
      PATH: `${programs}${delimiter}${inherited['PATH'] ?? ''}`,
      PORT: port,
      NODE_ENV: 'production',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${app} ended:\n${output}`);
    const response = await fetch(`${url}/health`).catch(() => undefined);
    if (response?.ok === true) break;
    if (response) {
      child.kill('SIGKILL');
      throw new Error(`${app} is not healthy: ${await response.text()}\n${output}`);
    }
    await delay(50);
  }
  return {
    async deliver(event, secret = own) {
      const request = await signedRequest(event, { secret });
      const response = await fetch(`${url}/hook`, request);
      return ((await response.json()) as { outcome: string }).outcome;
    },
    async stop() {
      child.kill('SIGTERM');
      return (await exited)[0];
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

/**
 * Starts an app, delivers to it, stops it, and starts it again if its store is to remember.
 * @throws if something is not as it should be
 */
export async function checkRunning(
  app: string,
  { remembers, env }: { remembers: boolean; env: NodeJS.ProcessEnv },
): Promise<void> {
  const completed = callCompleted();
  await whileRunning(app, env, async ({ deliver }) => {
    for (const event of [callStarted(), completed, callRecordingAvailable()])
      assert.equal(await deliver(event), 'handled', app);
    assert.equal(await deliver(completed), 'duplicate', app);
    assert.equal(await deliver(completed, generateSecret()), 'signature-mismatch', app);
  });
  if (remembers)
    await whileRunning(app, env, async ({ deliver }) => {
      assert.equal(await deliver(completed), 'duplicate', `${app} after a restart`);
    });
}

async function whileRunning(
  app: string,
  env: NodeJS.ProcessEnv,
  work: (running: RunningApp) => Promise<void>,
): Promise<void> {
  const running = await startApp(app, env);
  try {
    await work(running);
    const code = await running.stop();
    assert.ok(code === 0 || code === NEXT_STOPPED, `${app} ends with ${String(code)}`);
  } finally {
    running.kill();
  }
}
