import type { StoredDeadLetter } from '@call-webhooks/core';
import { withRedactedIds } from '@call-webhooks/core/internal';
import type { ListedDeadLetter } from '@call-webhooks/core/stores';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput } from '../errors.ts';
import { wholeNumber } from '../input/options.ts';
import { SHORT_NUMBER } from '../input/values.ts';
import type { OpenedStore } from '../store/engine.ts';
import {
  causesOf,
  filterOf,
  type FilterOptions,
  findLetter,
  lettersOf,
  type LetterQuery,
  MAX_GROUPED,
  readQuery,
  shownBody,
  withFilterOptions,
} from '../store/letters.ts';
import { type StoreOptions, withStore, withStoreOptions } from '../store/open-store.ts';
import { bodyLines, dateTime } from '../terminal/format.ts';
import { askYesNo } from '../terminal/prompts.ts';
import { type Column, pairs, paragraph } from '../terminal/table.ts';
import { type Colors, type Printable, t, type Text } from '../terminal/text.ts';
import { redriveCommand } from './redrive.ts';

interface ListOptions extends StoreOptions, LetterQuery {
  readonly limit: number;
}

/** `dead-letters`: what a receiver gave up, in its store. */
export function deadLettersCommand(app: App, base: Command): Command {
  const command = (name: string, what: string) => withStoreOptions(app.command(name, what));
  const reading = <Options extends StoreOptions & FilterOptions>(
    run: (app: App, opened: OpenedStore, options: Options) => Promise<undefined>,
  ) =>
    app.action(async (options: Options) => {
      // What is wrong with it is told before the store is opened.
      const query = await readQuery(app.io, options);
      return withStore(app, query, (opened) => run(app, opened, query), true);
    });
  return base
    .addCommand(
      withFilterOptions(command('list', 'List dead letters, oldest failure first'))
        .option(
          '-n, --limit <number>',
          'the maximum number',
          wholeNumber('--limit', 1, 1_000_000),
          50,
        )
        .action(reading(list)),
    )
    .addCommand(
      withFilterOptions(
        command('causes', 'Group dead letters by cause, most frequent first'),
      ).action(reading(causes)),
    )
    .addCommand(
      command('show', 'Show a dead letter: its error, its history and its body')
        .argument('<id>', 'its id, or the first characters of it')
        .option('--reveal', 'show the body as it was sent, with personal data')
        .addHelpText(
          'after',
          '\nWithout --reveal, the values of the body are hidden, except for ids and times.',
        )
        .action(
          app.action((id: string, options: ShowOptions) =>
            withStore(app, options, (opened) => show(app, opened, id, options), true),
          ),
        ),
    )
    .addCommand(redriveCommand(app))
    .addCommand(
      command('remove', 'Remove dead letters permanently')
        .argument('<id...>', 'the ids of the dead letters, or the first characters of each')
        .option('-y, --yes', 'do not ask for confirmation')
        .addHelpText(
          'after',
          '\nThe store still remembers the event as dead-lettered, so if the event\nis delivered again, its handler will not run.',
        )
        .action(
          app.action((ids: string[], options: RemoveOptions) =>
            withStore(app, options, (opened) => remove(app, opened, ids, options)),
          ),
        ),
    )
    .addHelpText(
      'afterAll',
      examples(
        ['dead-letters causes --store sqlite:calls.db', 'See what failed, and how often'],
        [
          'dead-letters list --since 2h --json | jq -r .id',
          'Print the ids of the dead letters of the last two hours',
        ],
        [
          'dead-letters list --contains - < ada.txt',
          'Find a person, by phone number, email address or name',
        ],
        ['dead-letters show 1f2e', 'See why one of them failed'],
        ['dead-letters redrive 1f2e --to 3000/hook', 'Run one of them again'],
        [
          'dead-letters redrive --cause 1f2e --to 3000/hook',
          'Run all dead letters with the same cause again',
        ],
        ['dead-letters redrive --all --to 3000/hook --concurrency 4', 'Run all dead letters again'],
      ),
    );
}

async function list(
  { output, signal }: App,
  opened: OpenedStore,
  options: ListOptions,
): Promise<undefined> {
  const found: ListedDeadLetter[] = [];
  let isWhole = true;
  for await (const letter of lettersOf(opened.deadLetters, options)) {
    isWhole = found.length < options.limit;
    if (!isWhole) break;
    found.push(withRedactedIds(letter));
    signal.throwIfAborted();
  }
  if (output.json) for (const letter of found) await output.print(letter);
  else if (found.length > 0) {
    await output.printTable(found, columnsOf(found), (colors) => rowsOf(colors, found));
    if (output.columns !== Infinity)
      output.message('To see the whole error: npx call-webhooks dead-letters show ID');
  }
  if (found.length === 0) await tellNone(output, opened, options);
  if (!isWhole)
    output.message(
      `These are the first ${String(found.length)}. For more: --limit ${String(found.length * 10)}`,
    );
  return undefined;
}

const hasTenants = (letters: readonly ListedDeadLetter[]): boolean =>
  letters.some(({ tenant }) => tenant !== undefined);

const columnsOf = (letters: readonly ListedDeadLetter[]): Column[] => [
  { title: 'failed last' },
  { title: 'id', cut: 'id' },
  ...(hasTenants(letters) ? [{ title: 'tenant' }] : []),
  { title: 'event' },
  { title: 'error' },
];

const rowsOf = ({ yellow }: Colors, letters: readonly ListedDeadLetter[]): Printable[][] =>
  letters.map(({ failedAt, id, tenant = '', eventName = '', error, claimedUntil }) => [
    dateTime(failedAt),
    id,
    ...(hasTenants(letters) ? [tenant] : []),
    eventName,
    claimedUntil ? yellow(`redrive in progress; ${error}`) : error,
  ]);

/** Where the second column of the causes begins: their errors stand below it. */
const CAUSE_INDENT = 'count  '.length;

async function causes(
  { output }: App,
  opened: OpenedStore,
  options: StoreOptions & LetterQuery,
): Promise<undefined> {
  const { causes: found, isWhole } = await causesOf(opened.deadLetters, options);
  if (output.json) for (const cause of found) await output.print(cause);
  else if (found.length > 0)
    await output.printTable(
      found,
      ['count', 'cause', 'last', 'events'].map((title) => ({ title })),
      () =>
        found.map(({ count, id, lastAt, eventNames }) => [
          ...[count, id.slice(0, 8), dateTime(lastAt), eventNames.join(', ')],
        ]),
      (at) => paragraph(found[at]?.text ?? '', output.columns, CAUSE_INDENT),
    );
  if (found.length === 0) await tellNone(output, opened, options);
  if (!isWhole) output.message(`Only the first ${String(MAX_GROUPED)} dead letters are grouped.`);
  return undefined;
}

/** There are none, or it is not the store of the receiver. */
async function tellNone(
  output: App['output'],
  { doubt }: OpenedStore,
  options: LetterQuery,
): Promise<void> {
  const { cause, contains, hasShortNumber } = options;
  const isFiltered = [filterOf(options), cause, contains].some((one) => one !== undefined);
  output.message(isFiltered ? 'There are no such dead letters.' : 'There are no dead letters.');
  if (hasShortNumber) output.message(SHORT_NUMBER);
  const reason = await doubt?.();
  if (reason !== undefined) output.warn(reason);
}

interface ShowOptions extends StoreOptions {
  readonly reveal?: boolean;
}

async function show(
  { output }: App,
  { deadLetters }: OpenedStore,
  id: string,
  { reveal }: ShowOptions,
): Promise<undefined> {
  const letter = await findLetter(deadLetters, id);
  const { rawBody, ...record } = withRedactedIds(letter);
  const text = Buffer.from(rawBody).toString('utf8');
  const isText = Buffer.from(text).equals(rawBody);
  const body = !reveal ? shownBody(letter) : isText ? text : rawBody;
  const shown =
    typeof body === 'string' ? { body } : { base64: Buffer.from(body).toString('base64') };
  await output.print({ ...record, ...shown }, (colors) => [
    ...detailLines(colors, { ...record, rawBody }, output.columns),
    ...bodyLines(body, Infinity).map((line) => t`  ${line}`),
  ]);
  return undefined;
}

function detailLines(colors: Colors, letter: StoredDeadLetter, columns: number): Text[] {
  const { id, eventName = '(no event name)', reason, callId, key, webhookId, attempt } = letter;
  const known: [string, Printable | undefined][] = [
    ['id', id],
    ['tenant', letter.tenant],
    ['call', callId],
    ['key', key],
    ['webhook id', webhookId],
    ['attempts', attempt],
    ...letter.history.slice(0, 1).map(({ attempt: nth, at }): [string, Printable] => [
      // The attempts before it are not kept.
      nth === 1 ? 'first failed' : 'dead letter since',
      dateTime(at),
    ]),
    ['failed last', dateTime(letter.failedAt)],
    ['claimed until', letter.claimedUntil && dateTime(letter.claimedUntil)],
  ];
  const given = known.filter((pair): pair is [string, Printable] => pair[1] !== undefined);
  return [
    t`${colors.bold(eventName)}  ${colors.red(reason)}`,
    ...pairs(colors, given, columns),
    ...letter.history.flatMap(({ at, source, error }) => [
      t`${colors.dim(dateTime(at))}  ${source}`,
      ...paragraph(error, columns, 2),
    ]),
  ];
}

interface RemoveOptions extends StoreOptions {
  readonly yes?: boolean;
}

async function remove(
  app: App,
  { deadLetters }: OpenedStore,
  given: readonly string[],
  { yes = false }: RemoveOptions,
): Promise<undefined> {
  const ids: string[] = [];
  for (const id of given) ids.push((await findLetter(deadLetters, id)).id);
  if (!yes && !app.interactive)
    throw badInput(
      'The removal is not confirmed, and it cannot be undone.',
      'Pass --yes if you are sure.',
    );
  const what = ids.length === 1 ? 'this dead letter' : `these ${String(ids.length)} dead letters`;
  if (!yes && !(await askYesNo(app, `Permanently remove ${what}?`))) return undefined;
  for (const id of ids) {
    const removed = await deadLetters.remove(id);
    await app.output.print(
      { id, removed },
      () => t`${id}  ${removed ? 'removed' : 'already removed'}`,
    );
  }
  return undefined;
}
