import type { DeadLetters, StoredDeadLetter } from '@call-webhooks/core';
import {
  type DeadLetterFilter,
  deadLetterId,
  type ListedDeadLetter,
} from '@call-webhooks/core/stores';
import {
  causeId,
  causeOf,
  groupByCause,
  maskedBody,
  type DeadLetterCause,
} from '@call-webhooks/recovery';
import { type Command, Option } from 'commander';
import { contentOf, isShortNumber } from '@call-webhooks/recovery/internal';
import { badInput } from '../errors.ts';
import type { Io } from '../io.ts';
import { time } from '../input/time.ts';
import { type BodyMatcher, matchersOf, searchedValues } from '../input/values.ts';
import { counted } from '../terminal/format.ts';

/** The flags that select dead letters. */
export interface FilterOptions {
  readonly event?: string;
  readonly reason?: 'handler-failed' | 'invalid-payload';
  readonly since?: Date;
  readonly until?: Date;
  readonly tenant?: string | undefined;
  readonly cause?: string;
  /** The name of a file with values, or `-`. */
  readonly contains?: string;
}

/** The same, once the values of `--contains` have been read. */
export interface LetterQuery extends FilterOptions {
  /** A letter is meant if one of them finds its body. */
  readonly matchers?: readonly BodyMatcher[] | undefined;
  /** Whether one of the values is a phone number that is found only in full. */
  readonly hasShortNumber?: boolean;
}

/** Reads the values of `--contains`, which may stand in standard input. @throws CliError 2 and 3 */
export async function readQuery<Options extends FilterOptions>(
  io: Io,
  options: Options,
): Promise<Options & LetterQuery> {
  filterOf(options);
  const { contains } = options;
  if (contains === undefined) return options;
  const values = await searchedValues(io, contains);
  const hasShortNumber = values.some(({ text }) => isShortNumber(text));
  return { ...options, matchers: matchersOf(values), hasShortNumber };
}

/** Adds the flags of {@link FilterOptions}. */
export const withFilterOptions = (command: Command): Command =>
  command
    .option('--event <name>', 'only dead letters of this event')
    .addOption(
      new Option('--reason <reason>', 'only dead letters with this reason').choices([
        'handler-failed',
        'invalid-payload',
      ]),
    )
    .option(
      '--contains <file>',
      'only dead letters whose body contains a value of this file (one per line; - is standard input)',
    )
    .option(
      '--cause <id>',
      'only dead letters with this cause; to find its id: npx call-webhooks dead-letters causes',
    )
    .option(
      '--since <time>',
      'only failures since then: 2h (ago), 2026-01-31T12:00Z (UTC without a zone)',
      time,
    )
    .option('--until <time>', 'only failures before then', time)
    .option('--tenant <name>', 'only dead letters of this tenant');

/**
 * The filter of the flags, which a store applies; `undefined` if none is given.
 * @throws CliError 2 for an empty window
 */
export function filterOf(options: FilterOptions): DeadLetterFilter | undefined {
  const { event, reason, since, until, tenant } = options;
  if (since && until && since >= until)
    throw badInput(
      '--since has to be before --until.',
      'Give a longer window, or only one of them.',
    );
  const given = [event, reason, since, until, tenant].some((value) => value !== undefined);
  return given ? { eventName: event, reason, since, until, tenant } : undefined;
}

/** The letters that are meant, those that failed longest ago first. */
export async function* lettersOf(
  deadLetters: DeadLetters,
  options: LetterQuery,
): AsyncGenerator<ListedDeadLetter> {
  const { cause, matchers } = options;
  const isMeant = async (letter: ListedDeadLetter): Promise<boolean> => {
    if (cause !== undefined && !(await causeId(causeOf(letter))).startsWith(cause)) return false;
    if (!matchers) return true;
    const whole = await deadLetters.get(letter.id);
    if (!whole) return false; // it was redriven or removed meanwhile
    const body = contentOf(whole.rawBody);
    return matchers.some((isAbout) => isAbout(body));
  };
  let cursor: string | undefined;
  do {
    const page = await deadLetters.list({ ...filterOf(options), limit: 1_000, cursor });
    for (const letter of page.letters) if (await isMeant(letter)) yield letter;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** More are not grouped. */
export const MAX_GROUPED = 10_000;

/** The causes of the letters that are meant: the most frequent first. */
export async function causesOf(
  deadLetters: DeadLetters,
  options: LetterQuery,
): Promise<{ causes: DeadLetterCause[]; isWhole: boolean }> {
  const letters: ListedDeadLetter[] = [];
  let isWhole = true;
  for await (const letter of lettersOf(deadLetters, options)) {
    isWhole = letters.length < MAX_GROUPED;
    if (!isWhole) break;
    letters.push(letter);
  }
  return { causes: await groupByCause(letters), isWhole };
}

/**
 * The letter with this id, or with an id that begins so.
 * @throws CliError 2 when there is none, or more than one
 */
export async function findLetter(deadLetters: DeadLetters, id: string): Promise<StoredDeadLetter> {
  const exact = await deadLetters.get(id);
  if (exact) return exact;
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await deadLetters.list({ limit: 1_000, cursor });
    found.push(...page.letters.map((letter) => letter.id).filter((one) => one.startsWith(id)));
    cursor = page.cursor;
  } while (cursor !== undefined && found.length < 2);
  const [only, another] = found;
  const letter = only === undefined ? undefined : await deadLetters.get(only);
  if (!letter)
    throw badInput(
      `There is no dead letter ${id}.`,
      'List them: npx call-webhooks dead-letters list',
    );
  if (another)
    throw badInput(
      `The ids of several dead letters start with ${id}.`,
      'Give more characters of the id.',
    );
  return letter;
}

/** How many of these events have no dead letter in the store, although they became dead letters. */
export async function countGone(
  deadLetters: DeadLetters,
  keys: readonly string[],
): Promise<number> {
  let gone = 0;
  for (const key of keys)
    if (!(await deadLetters.get(await deadLetterId({ key, webhookId: '' })))) gone += 1;
  return gone;
}

/** The body with its personal data hidden. */
export const shownBody = ({ rawBody }: StoredDeadLetter): string =>
  maskedBody(rawBody) ??
  `(${counted(rawBody.length, 'byte')} that ${rawBody.length === 1 ? 'is' : 'are'} not JSON)`;
