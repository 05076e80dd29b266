import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const MODULES = fileURLToPath(new URL('node_modules', import.meta.url));

/**
 * The binary that npm installed for this platform, such as `@oven/bun-linux-x64/bin/bun`.
 * @throws Error when it is missing
 */
export function installedBinary(scope: string, name: RegExp, path: string): string {
  const folder = readdirSync(join(MODULES, scope)).find((entry) => name.test(entry));
  if (folder === undefined) throw new Error(`npm installed no ${scope}/… for this platform`);
  return join(MODULES, scope, folder, path);
}

/** Bun's install script, where npm runs it, moves the binary into the package `bun`. */
export function bunBinary(): string {
  const untouched = installedBinary('@oven', /^bun-/, 'bin/bun');
  return existsSync(untouched) ? untouched : join(MODULES, 'bun/bin/bun.exe');
}

/** A runtime that serves. */
export interface Served {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Starts a runtime, and waits for the line that has its port.
 * @param listensOn the file descriptor with that line: 1, the output, or 3
 * @throws Error when it ends instead
 */
export async function startRuntime(
  binary: string,
  args: readonly string[],
  { env = {}, listensOn = 1 }: { env?: Record<string, string>; listensOn?: 1 | 3 } = {},
): Promise<Served> {
  const child = spawn(binary, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const ended = once(child, 'exit');
  child.stdout?.resume();
  const lines = createInterface(child.stdio[listensOn] as Readable);
  const port = await new Promise<number>((resolve, reject) => {
    lines.on('line', (line) => {
      const { port } = JSON.parse(line) as { port?: number };
      if (port !== undefined) resolve(port);
    });
    ended.then(([code]) => {
      reject(new Error(`${binary} ended with ${String(code)}`));
    }, reject);
  });
  return {
    port,
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
