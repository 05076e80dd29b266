import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  callBody,
  freePort,
  recordingBody,
  startSender,
  waitFor,
} from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';

/** The folder of an example. */
export const folderOf = (example: string) =>
  fileURLToPath(new URL(`../${example}`, import.meta.url));

/** Secrets as the service has them: of the webhook actions, and of the recording webhook. */
export const SECRETS = { calls: generateSecret(), recordings: generateSecret() };

/** A program of an example, in its own process. It imports our packages from their sources. */
export interface Program {
  readonly output: () => string;
  /** Resolves once it has printed this. Rejects if it ends before. */
  printed(pattern: RegExp): Promise<void>;
  /** @returns the exit code, or the signal that ended it */
  end(signal: NodeJS.Signals): Promise<number | string | null>;
  readonly exited: Promise<number | string | null>;
}

export function startProgram(
  example: string,
  file: string,
  env: Partial<NodeJS.ProcessEnv> = {},
): Program {
  const args = ['--import', 'tsx', '--conditions=@call-webhooks/source', file];
  const child = spawn(process.execPath, args, {
    cwd: folderOf(example),
    env: {
      ...process.env,
      CALL_WEBHOOK_SECRET: `${generateSecret()},${SECRETS.calls}`,
      RECORDING_WEBHOOK_SECRET: SECRETS.recordings,
      ...env,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exited = once(child, 'close').then(
    ([code, signal]) => (code ?? signal) as number | string | null,
  );
  return {
    output: () => output,
    exited,
    async printed(pattern) {
      const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
      await waitFor(() => pattern.test(output) || hasEnded());
      if (!pattern.test(output)) throw new Error(`It ended without ${String(pattern)}:\n${output}`);
    },
    end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}

/** Starts a receiver on a free port. */
export async function startReceiver(
  example: string,
  file: string,
  env: Partial<NodeJS.ProcessEnv>,
) {
  const PORT = String(await freePort());
  const program = startProgram(example, file, { PORT, ...env });
  // Fastify itself prints its address without the path.
  const printed = /listening at (http[^"\s]+\/hook)/;
  await program.printed(printed);
  const url = printed.exec(program.output())?.[1] ?? '';
  const calls = startSender(url, SECRETS.calls);
  const recordings = startSender(url, SECRETS.recordings);
  return {
    ...program,
    url,
    port: PORT,
    call: async (id: string) => (await calls.post(callBody(id))).outcome,
    recording: async (id: string) => (await recordings.post(recordingBody(id))).outcome,
    /** The status of a request to this path. */
    status: async (path: string, method = 'GET') =>
      (await fetch(new URL(path, url), { method })).status,
  };
}
