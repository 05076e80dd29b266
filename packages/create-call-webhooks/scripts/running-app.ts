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

/** Long enough for a busy machine. */
const START_WITHIN_MS = 120_000;
/** How `next start` ends after SIGTERM, when its requests are done. */
const NEXT_STOPPED = 143;

interface RunningApp {
  /** Delivers an event. @returns the outcome */
  readonly deliver: (
    event: object,
    secret?: string,
  ) => Promise<{ outcome: string; isRetry: boolean }>;
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
  const port = await ownPort();
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
  const kill = () => {
    child.kill('SIGKILL');
  };
  const url = `http://127.0.0.1:${port}`;
  const end = performance.now() + START_WITHIN_MS;
  let health = '';
  while (health !== 'ok') {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${app} ended:\n${output}`);
    if (performance.now() > end) {
      kill();
      throw new Error(`${app} is not healthy: ${health}\n${output}`);
    }
    const response = await fetch(`${url}/health`).catch(() => undefined);
    health = response?.ok === true ? 'ok' : ((await response?.text()) ?? 'no response');
    if (health !== 'ok') await delay(50);
  }
  return {
    async deliver(event, secret = own) {
      for (let attempt = 1; ; attempt += 1) {
        const request = await signedRequest(event, { secret });
        const response = await fetch(`${url}/hook`, request);
        const { outcome } = (await response.json()) as { outcome: string };
        // On a busy machine, a store may be too slow. The service delivers again then.
        const isTemporary = response.status === 503 && performance.now() < end + START_WITHIN_MS;
        if (!isTemporary) return { outcome, isRetry: attempt > 1 };
        await delay(1_000);
      }
    },
    async stop() {
      child.kill('SIGTERM');
      return (await exited)[0];
    },
    kill,
  };
}

const usedPorts = new Set<number>();

/** A port that no other app gets. */
async function ownPort(): Promise<string> {
  const port = await freePort();
  if (usedPorts.has(port)) return ownPort();
  usedPorts.add(port);
  return String(port);
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
    for (const event of [callStarted(), completed, callRecordingAvailable()]) {
      const { outcome, isRetry } = await deliver(event);
      // The mark of the first attempt may have been written late.
      assert.ok(
        outcome === 'handled' || (isRetry && outcome === 'duplicate'),
        `${app}: ${outcome}`,
      );
    }
    assert.equal((await deliver(completed)).outcome, 'duplicate', app);
    const { outcome } = await deliver(completed, generateSecret());
    assert.equal(outcome, 'signature-mismatch', app);
  });
  if (remembers)
    await whileRunning(app, env, async ({ deliver }) => {
      const { outcome } = await deliver(completed);
      assert.equal(outcome, 'duplicate', `${app} after a restart`);
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
