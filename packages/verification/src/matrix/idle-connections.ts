import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('idle-connections-process.ts', import.meta.url));

/**
 * Opens silent connections from a process of their own: both ends together may exceed the limit of
 * open files of a single process.
 * @throws Error when they cannot be opened
 */
export async function openIdleConnections(port: number, size: number) {
  const args = ['--import', 'tsx', PROGRAM, String(port), String(size)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value);
  if ((await next()) !== 'open')
    throw new Error(`${String(size)} connections could not be opened.`);
  return {
    /** @throws Error when the server has ended one of them */
    async close(): Promise<void> {
      child.stdin.end();
      const result = await next();
      await exited;
      if (result !== 'lost 0') throw new Error(`Of ${String(size)} connections: ${result}.`);
    },
  };
}
