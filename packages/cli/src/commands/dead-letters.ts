import type { DeadLetters, StoredDeadLetter } from '@call-webhooks/core';
import type { ListedDeadLetter } from '@call-webhooks/core/stores';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput } from '../errors.ts';
import { wholeNumber } from '../input/options.ts';
import type { OpenedStore } from '../store/engines.ts';
import {
  causesOf,
  filterOf,
  type FilterOptions,
  findLetter,
  lettersOf,
  MAX_GROUPED,
  shownBody,
  withFilterOptions,
} from '../store/letters.ts';
import { type StoreOptions, withStore, withStoreOptions } from '../store/open-store.ts';
import { bodyLines, dateTime } from '../terminal/format.ts';
import { askYesNo } from '../terminal/prompts.ts';
import { type Column, pairs, paragraph, table } from '../terminal/table.ts';
import { type Colors, type Printable, t, type Text } from '../terminal/text.ts';
import { redriveCommand } from './redrive.ts';

/** `dead-letters`: what a receiver gave up, in its store. */
export function deadLettersCommand(app: App, base: Command): Command {
  return base
    .addCommand(listCommand(app))
    .addCommand(causesCommand(app))
    .addCommand(showCommand(app))
    .addCommand(redriveCommand(app))
    .addCommand(removeCommand(app))
    .addHelpText(
      'after',
      examples(['dead-letters list --store sqlite:calls.db', 'What failed for good']),
    );
}

interface ListOptions extends StoreOptions, FilterOptions {
  readonly limit: number;
}

function listCommand(app: App): Command {
  const command = app
    .command('list', 'List dead letters, those that failed longest ago first')
    .option('--tenant <name>', 'only those of this tenant')
    .option('-n, --limit <number>', 'how many', wholeNumber('--limit', 1, 1_000_000), 50);
  return withStoreOptions(withFilterOptions(command))
    .addHelpText(
      'after',
      examples(
        ['dead-letters list --store sqlite:calls.db', 'What failed for good'],
        ['dead-letters list --since 2h --json | jq -r .id', 'The ids of the last two hours'],
      ),
    )
    .action(
      app.action((options: ListOptions) =>
        withStore(app, options, (opened) => printLetters(app, opened, options), true),
      ),
    );
}

async function printLetters(
  { output, signal }: App,
  { deadLetters, doubt }: OpenedStore,
  options: ListOptions,
): Promise<undefined> {
  const found: ListedDeadLetter[] = [];
  let more = 0;
  for await (const letter of lettersOf(deadLetters, options)) {
    if (found.length < options.limit) found.push(letter);
    else more++;
    signal.throwIfAborted();
  }
  const isFiltered = filterOf(options) !== undefined || options.cause !== undefined;
  if (output.json) for (const letter of found) await output.print(letter);
  else if (found.length === 0)
    output.message(isFiltered ? 'There are no such dead letters.' : 'There are no dead letters.');
  else {
    await output.print(found, (colors) => rows(colors, found, output.columns));
    if (output.columns !== Infinity)
      output.message('For a whole error: call-webhooks dead-letters show ID');
  }
  const reason = found.length === 0 ? await doubt?.() : undefined;
  if (reason !== undefined) output.warn(reason);
  if (more > 0)
    output.message(`${String(more)} more. To see them: --limit ${String(found.length + more)}`);
  return undefined;
}

function causesCommand(app: App): Command {
  const command = app
    .command('causes', 'Group dead letters by what failed: the most frequent first')
    .option('--tenant <name>', 'only those of this tenant');
  return withStoreOptions(withFilterOptions(command))
    .addHelpText(
      'after',
      examples(
        ['dead-letters causes', 'What failed, and how often'],
        ['dead-letters redrive --cause 1f2e --to 3000/hook', 'Redrive those of one cause'],
      ),
    )
    .action(
      app.action((options: StoreOptions & FilterOptions) =>
        withStore(app, options, (opened) => printCauses(app, opened, options), true),
      ),
    );
}

async function printCauses(
  { output }: App,
  { deadLetters, doubt }: OpenedStore,
  options: FilterOptions,
): Promise<undefined> {
  const { causes, isWhole } = await causesOf(deadLetters, options);
  if (output.json) for (const cause of causes) await output.print(cause);
  else if (causes.length === 0) output.message('There are no dead letters.');
  else
    await output.print(causes, (colors) => {
      const head = [{ title: 'count' }, { title: 'cause', cut: 'id' as const }, { title: 'last' }];
      const cells = causes.map(({ count, id, lastAt, eventNames, text }) => [
        count,
        id,
        dateTime(lastAt),
        text,
        eventNames.join(', '),
      ]);
      return table(
        colors,
        [...head, { title: 'error' }, { title: 'events' }],
        cells,
        output.columns,
      );
    });
  const reason = causes.length === 0 ? await doubt?.() : undefined;
  if (reason !== undefined) output.warn(reason);
  if (!isWhole) output.message(`These are the first ${String(MAX_GROUPED)} letters.`);
  return undefined;
}

const TENANT: Column = { title: 'tenant', cut: 'end' };

function rows(colors: Colors, letters: readonly ListedDeadLetter[], columns: number): Text[] {
  const hasTenants = letters.some(({ tenant }) => tenant !== undefined);
  return table(
    colors,
    [
      { title: 'failed' },
      { title: 'id', cut: 'id' },
      ...(hasTenants ? [TENANT] : []),
      { title: 'event' },
      { title: 'error' },
    ],
    letters.map(({ failedAt, id, tenant = '', eventName = '', error, claimedUntil }) => [
      dateTime(failedAt),
      id,
      ...(hasTenants ? [tenant] : []),
      eventName,
      claimedUntil ? colors.yellow(`being redriven; ${error}`) : error,
    ]),
    columns,
  );
}

interface ShowOptions extends StoreOptions {
  readonly reveal?: boolean;
}

function showCommand(app: App): Command {
  const command = app
    .command('show', 'Show a dead letter: its error, its history and its body')
    .argument('<id>', 'its id or the beginning of it')
    .option('--reveal', 'show personal data: the body as it was sent');
  return withStoreOptions(command)
    .addHelpText(
      'after',
      `
Values of the body are hidden unless you pass --reveal. Ids and times are shown.
${examples(['dead-letters show 1f2e', 'Why it failed'], ['dead-letters show 1f2e --reveal', 'With the body as it was sent'])}`,
    )
    .action(
      app.action((id: string, options: ShowOptions) =>
        withStore(app, options, ({ deadLetters }) => show(app, deadLetters, id, options), true),
      ),
    );
}

async function show(
  { output }: App,
  deadLetters: DeadLetters,
  id: string,
  { reveal }: ShowOptions,
): Promise<undefined> {
  const letter = await findLetter(deadLetters, id);
  const { rawBody: _rawBody, ...record } = letter;
  const body = reveal ? wholeBody(letter) : shownBody(letter);
  const text =
    typeof body === 'string' ? { body } : { base64: Buffer.from(body).toString('base64') };
  await output.print({ ...record, ...text }, (colors) => [
    ...detailLines(colors, letter, output.columns),
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
    ['failed', dateTime(letter.failedAt)],
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

function removeCommand(app: App): Command {
  const command = app
    .command('remove', 'Remove dead letters for good')
    .argument('<id...>', 'their ids, or the beginnings of them')
    .option('-y, --yes', 'do not ask');
  return withStoreOptions(command)
    .addHelpText(
      'after',
      `
The event stays known as dead-lettered for as long as the store remembers it.
${examples(['dead-letters remove 1f2e', 'Give an event up'])}`,
    )
    .action(
      app.action((ids: string[], options: RemoveOptions) =>
        withStore(app, options, ({ deadLetters }) => remove(app, deadLetters, ids, options)),
      ),
    );
}

async function remove(
  app: App,
  deadLetters: DeadLetters,
  given: readonly string[],
  { yes = false }: RemoveOptions,
): Promise<undefined> {
  const ids: string[] = [];
  for (const id of given) ids.push((await findLetter(deadLetters, id)).id);
  if (!yes && !app.interactive)
    throw badInput('Removing cannot be undone.', 'Pass --yes if you are sure.');
  const what = ids.length === 1 ? 'this dead letter' : `these ${String(ids.length)} dead letters`;
  if (!yes && !(await askYesNo(app, `Remove ${what} for good?`))) return undefined;
  for (const id of ids) {
    const removed = await deadLetters.remove(id);
    await app.output.print({ id, removed }, () => t`${id}  ${removed ? 'removed' : 'was gone'}`);
  }
  return undefined;
}

/** The body as it was sent: a text, where it is one. */
function wholeBody({ rawBody }: StoredDeadLetter): string | Uint8Array {
  const text = Buffer.from(rawBody).toString('utf8');
  return Buffer.from(text).equals(rawBody) ? text : rawBody;
}
