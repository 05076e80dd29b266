import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('crowd-process.ts', import.meta.url));

/**
 * Opens connections that say nothing, from a process of their own: one alone may not have so many
 * files open as both ends of them take.
 * @throws Error when they can't be opened
 */
export async function openCrowd(port: number, size: number) {
  const args = ['--import', 'tsx', PROGRAM, String(port), String(size)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value);
  if ((await next()) !== 'open') throw new Error(`${String(size)} connections can't be opened.`);
  return {
    /** @throws Error when the server has ended one of them */
    async leave(): Promise<void> {
      child.stdin.end();
      const said = await next();
      await exited;
      if (said !== 'lost 0') throw new Error(`Of ${String(size)} connections: ${said}.`);
    },
  };
}
