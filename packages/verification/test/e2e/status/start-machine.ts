import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { testResources } from '../test-resources.ts';

/** A line of the log of a machine. */
export interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/**
 * Starts a program of this folder in a process of its own, until the test ends.
 * @param lines what it logs is added to
 * @returns the port that it listens on
 */
export async function startMachine(
  own: ReturnType<typeof testResources>,
  program: string,
  input: object,
  lines: Line[] = [],
): Promise<number> {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const child = fork(file, [JSON.stringify(input)], {
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
  });
  const ended = once(child, 'exit');
  own.add({
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  });
  child.on('message', (message: { line?: Line }) => {
    if (message.line) lines.push(message.line);
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return port;
}
