import { bodyMatcher } from '@call-webhooks/recovery/internal';
import { badInput } from '../errors.ts';
import type { Io } from '../io.ts';
import { readData } from './read.ts';

/** Decides whether a body contains what is searched for: parsed JSON, or the text of a body that is not JSON. */
export type BodyMatcher = (body: unknown) => boolean;

/**
 * What is searched for in bodies: the lines of a file, or of standard input. It is never an argument, which
 * every user of the machine could read.
 * @param file a path, or `-` for standard input
 * @throws CliError 2 and 3
 */
export async function searchedValues(io: Io, file: string): Promise<string[]> {
  const text = await readData(io, file === '-' ? file : `@${file}`, 'values to search for');
  const values = text
    .toString('utf8')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter(Boolean);
  if (values.length > 0) return values;
  throw badInput(
    'The file has no values.',
    'Write one phone number, e-mail address or name on each line.',
  );
}

/**
 * A matcher for each of these values. The message of an error has the number of the line alone.
 * @throws CliError 2 for a value that would be found in too many places
 */
export const matchersOf = (values: readonly string[]): BodyMatcher[] =>
  values.map((value, at) => {
    const matcher = bodyMatcher(value);
    if (matcher) return matcher;
    throw badInput(
      `Value ${String(at + 1)} is too short to search for.`,
      'Give at least five digits of a phone number, or two letters.',
    );
  });
