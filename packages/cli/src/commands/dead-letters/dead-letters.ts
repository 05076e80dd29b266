import type { DeadLetters, StoredDeadLetter } from '@call-webhooks/core';
import type { ListedDeadLetter } from '@call-webhooks/core/stores';
import { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';
import type { Command } from 'commander';
import { type App, examples } from '../../app.ts';
import { redriveCommand } from './redrive.ts';
import { filterOf, findLetter, withFilterOptions, type FilterOptions } from './selection.ts';
import { badInput } from '../../errors.ts';
import { wholeNumber } from '../../input/options.ts';
import type { OpenedStore } from '../../store/engines.ts';
import { type StoreOptions, withStore, withStoreOptions } from '../../store/open-store.ts';
import type { Colors } from '../../terminal/colors.ts';
import { paragraph } from '../../terminal/fit.ts';
import { bodyLines, dateTime } from '../../terminal/format.ts';
import { askYesNo } from '../../terminal/prompts.ts';
import { type Column, pairs, table } from '../../terminal/table.ts';
import { type Printable, t, type Text } from '../../terminal/text.ts';

/** `dead-letters`: what a receiver gave up, in its store. */
export function deadLettersCommand(app: App, base: Command): Command {
  return base
    .addCommand(listCommand(app))
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
  const filter = filterOf(options);
  const found: ListedDeadLetter[] = [];
  let cursor: string | undefined;
  do {
    const limit = Math.min(1_000, options.limit - found.length);
    const page = await deadLetters.list({ ...filter, limit, cursor });
    found.push(...page.letters);
    cursor = page.cursor;
  } while (cursor !== undefined && found.length < options.limit && !signal.aborted);
  if (output.json) for (const letter of found) await output.print(letter);
  else if (found.length === 0)
    output.message(filter ? 'There are no such dead letters.' : 'There are no dead letters.');
  else {
    await output.print(found, (colors) => rows(colors, found, output.columns));
    if (output.columns !== Infinity)
      output.message('For a whole error: call-webhooks dead-letters show ID');
  }
  const reason = found.length === 0 ? await doubt?.() : undefined;
  if (reason !== undefined) output.warn(reason);
  if (cursor !== undefined) {
    const total = await deadLetters.count(filter);
    output.message(`${String(total - found.length)} more. To see them: --limit ${String(total)}`);
  }
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
  const body = bodyOf(letter, reveal);
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

/** These identify events, not people. */
const SHOWN = new Set([
  'eventName',
  'eventId',
  'callId',
  'userId',
  'workspaceId',
  'recordingDurationSeconds',
]);
/** These are times (spec, the bodies of webhooks). Anything else in them is hidden. */
const TIMES = new Set<string>([
  DEFAULT_FIELD_NAMES.createdAt,
  DEFAULT_FIELD_NAMES.dialedAt,
  DEFAULT_FIELD_NAMES.endedAt,
  'recordingStartedAt',
  'occurredAt',
]);
const HIDDEN = '•••';

/** The body of a letter: as it is, or with its personal data hidden. */
function bodyOf({ rawBody }: StoredDeadLetter, reveal = false): string | Uint8Array {
  const text = Buffer.from(rawBody).toString('utf8');
  const isText = Buffer.from(text).equals(rawBody);
  if (reveal) return isText ? text : rawBody;
  try {
    return JSON.stringify(masked(JSON.parse(text)));
  } catch {
    return `(${String(rawBody.length)} bytes that are no JSON)`;
  }
}

/** Keeps the shape, the field names and what is known to be harmless. */
function masked(value: unknown): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value !== 'object') return HIDDEN;
  if (Array.isArray(value)) return value.map(masked);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      // A key may be the name of a person.
      /^[a-z_]\w*$/.test(name) ? name : HIDDEN,
      isShown(name, inner) ? inner : masked(inner),
    ]),
  );
}

const isShown = (name: string, value: unknown): boolean =>
  TIMES.has(name) ? isTime(value) : SHOWN.has(name) && typeof value !== 'object';

const [EARLIEST, LATEST] = [Date.UTC(2000, 0), Date.UTC(2100, 0)];

/** Epoch milliseconds of this century, or an ISO 8601 date and time. */
const isTime = (value: unknown): boolean =>
  typeof value === 'number'
    ? Number.isInteger(value) && value >= EARLIEST && value < LATEST
    : typeof value === 'string' &&
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/.test(value);
