import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { generateSecret } from '@call-webhooks/core';

/** The app in its own process, started as users do: `npm start`. */
export interface RunningApp {
  readonly url: string;
  /** The secret that the app generated. */
  readonly secret: string;
  /** Those of its workspaces. */
  readonly secrets: { readonly acme: string; readonly globex: string };
  /** Its output so far. */
  output(): string;
  /** Resolves once it has printed this, which may be after the response. */
  printed(pattern: RegExp): Promise<void>;
  stop(): Promise<void>;
}

const POLL_MS = 50;

export async function startApp(): Promise<RunningApp> {
  const secrets = { acme: generateSecret(), globex: generateSecret() };
  const child = spawn('npm', ['start'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    detached: true, // a process group, so that npm's children are stopped with it
    // The build must work without a secret.
    env: {
      ...process.env,
      ...{ CALL_WEBHOOK_SECRET: undefined, WORKSPACE_SECRETS: JSON.stringify(secrets) },
      ...{ PORT: '0', NO_COLOR: '1' },
    },
  });
  const exited = once(child, 'exit');
  let output = '';
  const keep = (chunk: Buffer) => (output += chunk.toString());
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);

  const found = async (pattern: RegExp, withinMs: number): Promise<string> => {
    const end = Date.now() + withinMs;
    for (;;) {
      const match = pattern.exec(output);
      if (match) return match[1] ?? match[0];
      if (child.exitCode !== null || Date.now() > end) {
        throw new Error(`The app did not print ${String(pattern)}:\n${output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };
  const stop = async () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, 'SIGTERM');
    }
    await exited;
  };

  try {
    const secret = await found(/Using a new one: (whsec_\S+)/, 180_000);
    const url = await found(/Local: +(http:\/\/\S+)/, 30_000);
    await found(/Ready in/, 30_000);
    return {
      url,
      secret,
      secrets,
      output: () => output,
      printed: async (pattern) => {
        await found(pattern, 5_000);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
