import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { badInput, environmentError } from '../errors.ts';
import type { Io } from '../io.ts';

/** Reads a file. @throws CliError 3 that names the file */
async function readBytes(path: string, what: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw environmentError(
      `Cannot read the ${what} ${path}: ${code}.`,
      code === 'ENOENT'
        ? 'Check the path. It is relative to the current directory.'
        : 'Check the path and its permissions.',
    );
  }
}

/** Reads a file of text. @throws CliError 3 that names the file */
export const readText = async (path: string, what: string): Promise<string> =>
  decodeText(await readBytes(path, what));

/** The text of bytes in UTF-8, or in UTF-16 with a BOM, as PowerShell's `>` writes it. */
export const decodeText = (bytes: Uint8Array): string =>
  new TextDecoder(encodingOf(bytes)).decode(bytes); // without the BOM

function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** Reads standard input to its end. @throws CliError 2 when nothing is piped in */
async function readStdin({ stdin, signal }: Io, what: string): Promise<Buffer> {
  if (stdin.isTTY === true)
    throw badInput(
      `The ${what} is read from standard input, but nothing is piped in.`,
      'Pipe it in, or pass --data @FILE.',
    );
  signal.throwIfAborted();
  const end = () => stdin.destroy();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await buffer(stdin);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/**
 * Reads what an option names: `@file`, `-` for standard input, or the text itself. UTF-16 with a BOM
 * becomes UTF-8: no body is sent in it, but PowerShell's `>` writes it.
 */
export async function readData(io: Io, given: string, what = 'data'): Promise<Buffer> {
  if (given !== '-' && !given.startsWith('@')) return Buffer.from(given);
  const bytes = await (given === '-' ? readStdin(io, what) : readBytes(given.slice(1), what));
  return encodingOf(bytes) === 'utf-8' ? bytes : Buffer.from(decodeText(bytes));
}
