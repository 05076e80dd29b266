import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Runner } from './rounds.ts';

const path = fileURLToPath(new URL('./import-process.js', import.meta.url));
const run = promisify(execFile);

/** Imports a package in a process that is new each time. */
export const importRunner = (specifier: string): Runner => ({
  async turn() {
    const { stdout } = await run(process.execPath, [path, specifier]);
    return Number(stdout);
  },
  stop: () => Promise.resolve(),
});
