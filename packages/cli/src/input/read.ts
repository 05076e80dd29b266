import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { badInput, environment } from '../cli-error.ts';
import type { Io } from '../io.ts';

/** The bytes of a file. @throws CliError 3 that names it */
export async function fileBytes(path: string, what: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw environment(
      `The ${what} ${path} can't be read: ${code}.`,
      code === 'ENOENT' ? 'Check the path; it is relative to the current folder.' : undefined,
    );
  }
}

/** Everything that is piped into the program. @throws CliError 2 when that is a keyboard */
export async function standardInput({ stdin, signal }: Io, what: string): Promise<Buffer> {
  if (stdin.isTTY === true)
    throw badInput(`The ${what} is to come from standard input, and nothing is piped into it.`);
  const end = () => stdin.destroy();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await buffer(stdin);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** `@file`, `-` for standard input, or the text itself. */
export async function dataBytes(io: Io, given: string, what = 'data'): Promise<Buffer> {
  if (given === '-') return standardInput(io, what);
  return given.startsWith('@') ? fileBytes(given.slice(1), what) : Buffer.from(given);
}
