import { bodyMatcher } from '@call-webhooks/recovery/internal';
import { badInput, CliError, environmentError } from '../errors.ts';
import type { Io } from '../io.ts';
import { readData } from './read.ts';

/** Decides whether a body contains what is searched for: parsed JSON, or the text of a body that is not JSON. */
export type BodyMatcher = (body: unknown) => boolean;

/** A value that is searched for. Messages name it by its line, since it may be personal data. */
export interface SearchedValue {
  readonly text: string;
  /** The number of its line, from 1. */
  readonly line: number;
}

/**
 * What is searched for in bodies: the lines of a file, or of standard input. It is never an argument, which
 * every user of the machine could read.
 * @param file a path, or `-` for standard input
 * @throws CliError 2 and 3. Its message never has what was given, which may be a value instead of a path
 */
export async function searchedValues(io: Io, file: string): Promise<SearchedValue[]> {
  const data = await readData(io, file === '-' ? file : `@${file}`, 'values').catch(
    (error: unknown) => {
      if (file === '-' || !(error instanceof CliError)) throw error;
      throw environmentError(
        'The file of --contains cannot be read. It expects the path of a file, not a value.',
        'Write the values to a file, one on each line, and pass its path. Or pass --contains - and pipe them in.',
      );
    },
  );
  const values = data
    .toString('utf8')
    .split(/\r?\n/)
    .map((line, at) => ({ text: line.trim(), line: at + 1 }))
    .filter(({ text }) => text !== '');
  if (values.length === 0)
    throw badInput(
      'The file contains no values.',
      'Write one phone number, email address or name on each line.',
    );
  const short = values.find(({ text }) => !bodyMatcher(text));
  if (!short) return values;
  throw badInput(
    `The value in line ${String(short.line)} is too short to search for.`,
    'Give the last nine digits of a phone number or more, a number of five to eight digits in full, or two letters.',
  );
}

/** For a search that did not find a short number. */
export const SHORT_NUMBER =
  'A phone number with fewer than nine digits is found only if it is written in full. Give its last nine digits or more.';

/** A matcher for each of these values. */
export const matchersOf = (values: readonly SearchedValue[]): BodyMatcher[] =>
  values.flatMap(({ text }) => bodyMatcher(text) ?? []);
