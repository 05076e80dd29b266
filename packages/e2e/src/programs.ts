import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A program in a process of its own. */
export interface Program {
  /** Its first message. */
  readonly ready: unknown;
  /** SIGTERM; resolves with the exit code. */
  terminate(): Promise<number | null>;
  /** `kill -9`; resolves when the process is gone. */
  close(): Promise<void>;
}

const FLAGS = ['--import', 'tsx', '--conditions=@call-webhooks/source'];

/**
 * Starts a TypeScript program of `src/programs`, and waits for its first message over IPC.
 *
 * @throws Error when it exits instead
 */
export async function startProgram(
  file: string,
  input: unknown,
  flags: readonly string[] = [],
): Promise<Program> {
  const path = fileURLToPath(new URL(`./programs/${file}`, import.meta.url));
  const child: ChildProcess = fork(path, [JSON.stringify(input)], {
    execArgv: [...FLAGS, ...flags],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const said = once(child, 'message');
  const first = await Promise.race([said, ended.then(() => undefined)]);
  if (first === undefined) throw new Error(`${file} ended with ${String(child.exitCode)}`);
  return {
    ready: first[0],
    async terminate() {
      child.kill('SIGTERM');
      await ended;
      return child.exitCode;
    },
    async close() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}
