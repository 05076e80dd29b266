import { existsSync } from 'node:fs';
import type { ActivityEvent, CallRecord, Page, Recording } from '@call-webhooks/client';
import { isoTime } from '@call-webhooks/core/internal';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, environmentError } from '../errors.ts';
import { wholeNumber } from '../input/options.ts';
import { serviceClient, type ServiceOptions, withServiceOptions } from '../service/client.ts';
import { dateTime, size } from '../terminal/format.ts';
import { showProgress } from '../terminal/prompts.ts';
import type { Column } from '../terminal/table.ts';
import { shellWord } from '../terminal/shell.ts';
import { t } from '../terminal/text.ts';

interface ListOptions extends ServiceOptions {
  readonly all?: boolean;
  readonly limit?: number;
  readonly next?: string;
}

const withListOptions = (command: Command): Command =>
  withServiceOptions(command)
    .option('--all', 'print all pages, not only the first')
    .option(
      '-n, --limit <number>',
      'the number of results per page',
      wholeNumber('--limit', 1, 100_000),
    )
    .option('--next <cursor>', 'continue after an earlier page');

interface Source<T> {
  list(options: object): Promise<Page<T>>;
  iterate(options: object): AsyncGenerator<T, void, undefined>;
}

/** A column of the table for people. */
interface ShownColumn<T> extends Column {
  readonly value: (record: T) => string;
}

/**
 * Prints one page, or all pages: JSON as it is read, and one table at the end.
 * @param columnsOf the columns of the table, which may depend on the first record
 * @param ifNone what to say when there are none
 */
async function printList<T>(
  { output, signal }: App,
  source: Source<T>,
  query: object,
  { all, limit, next }: ListOptions,
  columnsOf: (first: T) => readonly ShownColumn<T>[],
  ifNone: string,
): Promise<undefined> {
  const request = { ...query, limit, next, signal };
  const page = all ? undefined : await source.list(request);
  const records: T[] = [];
  let count = 0;
  try {
    for await (const record of page?.results ?? source.iterate(request)) {
      count++;
      if (output.json) await output.print(record);
      else records.push(record);
      if (signal.aborted) break;
    }
  } finally {
    // Also what was read before an error.
    const [first] = records;
    if (first !== undefined) {
      const columns = columnsOf(first);
      const rows = records.map((record) => columns.map(({ value }) => value(record)));
      await output.printTable(records, columns, () => rows);
    }
  }
  if (count === 0) output.message(ifNone);
  if (page?.hasNext)
    output.message(t`There are more results: pass --all, or --next ${shellWord(page.next ?? '')}`);
  return undefined;
}

/** `calls`: lists call records. */
export function callsCommand(app: App, base: Command): Command {
  return withListOptions(base)
    .addHelpText(
      'after',
      examples(
        ['calls', 'Print the first page'],
        ['calls --all --json | jq -r ._id', 'Print all ids'],
      ),
    )
    .action(
      app.action(async (options: ListOptions) => {
        const { calls } = await serviceClient(app, options);
        const ifNone = 'No calls found. In the simulator: npx call-webhooks trigger call';
        return printList(app, calls, {}, options, columnsOf, ifNone);
      }),
    );
}

// The spec shows only `_id`. The other fields depend on the service. The first are the most telling:
// where it is too narrow, the last are left out.
const columnsOf = (first: CallRecord): ShownColumn<CallRecord>[] =>
  Object.keys(first).map((name, at) => ({
    title: name,
    // The id is an argument of `recording`, so it is never cut.
    ...(at > 0 && { cut: 'end' }),
    value: (record) => textOf(name, record[name]),
  }));

function textOf(name: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string' && typeof value !== 'number') return JSON.stringify(value);
  return name.endsWith('At') ? timeText(value) : String(value);
}

function timeText(value: string | number): string {
  const time = new Date(typeof value === 'number' ? value : (isoTime(value) ?? NaN));
  return Number.isNaN(time.getTime()) ? String(value) : dateTime(time);
}

/** `activity`: lists activity events. */
export function activityCommand(app: App, base: Command): Command {
  return withListOptions(base)
    .argument('[search...]', 'what to search for, in the search language of the service')
    .addHelpText(
      'after',
      `
A search consists of words or one "exact subject", and of the operators to:
(repeatable), since:, until:, type:, template:, sequence: and from:. Quote the
search for the shell.
${examples(
  ['activity to:example.com type:opened since:2026-01-31', 'See who opened which message'],
  [`activity 'template:"First call" from:myself' --all`, 'Quote a value of several words'],
  ['activity type:clicked --all --json | jq -r .recipientEmail', 'Print a field of all pages'],
)}`,
    )
    .action(
      app.action(async (words: string[], options: ListOptions) => {
        const query = { search: words.join(' ') };
        const { events } = await serviceClient(app, options);
        const ifNone =
          'No activity events found. In the simulator: npx call-webhooks trigger message';
        return printList(app, events, query, options, () => COLUMNS, ifNone);
      }),
    );
}

const COLUMNS: readonly ShownColumn<ActivityEvent>[] = [
  { title: 'time', value: ({ timestamp }) => timeText(timestamp) },
  { title: 'action', value: ({ action }) => action },
  { title: 'recipient', cut: 'middle', value: ({ recipientEmail }) => recipientEmail },
  { title: 'subject', cut: 'end', value: ({ subject }) => subject },
];

interface RecordingOptions extends ServiceOptions {
  readonly output?: string;
  readonly force?: boolean;
}

/** `recording`: downloads the recording of a call. */
export function recordingCommand(app: App, base: Command): Command {
  return withServiceOptions(base)
    .argument('<callId>', 'the id of the call')
    .option(
      '-o, --output <file>',
      'the file, or - for stdout (default: the call id with an extension for its type)',
    )
    .option('--force', 'replace an existing file')
    .addHelpText(
      'after',
      examples(
        ['recording 4d0c…', 'Save the recording; the file appears when it is complete'],
        ['recording 4d0c… -o - | ffplay -', 'Play the recording'],
      ),
    )
    .action(
      app.action((callId: string, options: RecordingOptions) => download(app, callId, options)),
    );
}

async function download(app: App, callId: string, options: RecordingOptions): Promise<undefined> {
  const { io, output, signal } = app;
  const toStdout = options.output === '-';
  if (toStdout && io.stdout.isTTY)
    throw badInput('A recording cannot be shown in a terminal.', 'Pass -o FILE, or pipe it.');
  if (toStdout && output.json)
    throw badInput('--json and -o - cannot be combined.', 'Remove one of them.');
  if (options.output !== undefined && !toStdout) refuseToReplace(options.output, options);
  const client = await serviceClient(app, options);
  const recording = await client.calls.recording(callId, { signal });
  if (toStdout) {
    for await (const chunk of recording.body) await output.write(chunk);
    return undefined;
  }
  const path = options.output ?? fileName(callId, recording);
  refuseToReplace(path, options);
  const shown = showProgress(io, size);
  try {
    const saved = await recording.saveTo(path, {
      onProgress: ({ received, total }) => {
        shown.update(received, total);
      },
      signal,
    });
    shown.clear();
    await output.print(saved, ({ bold }) => t`${bold(path)}  ${size(saved.bytes)}`);
  } finally {
    shown.clear();
  }
  return undefined;
}

function refuseToReplace(path: string, { force }: RecordingOptions): void {
  if (!force && existsSync(path))
    throw environmentError(`${path} already exists.`, 'Pass --force to replace it.');
}

/** The spec does not show the format of a recording, so its content type decides. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'audio/wav': '.wav',
  'audio/x-wav': '.wav',
  'audio/wave': '.wav',
  'audio/mpeg': '.mp3',
  'audio/mp4': '.m4a',
  'audio/ogg': '.ogg',
  'audio/webm': '.webm',
};

/** A file name in the current directory, whatever the id is. */
function fileName(callId: string, { contentType = '' }: Recording): string {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const name = callId.replace(/[^\w-]/g, '_').slice(0, 100);
  return `${name}${EXTENSIONS[type] ?? '.audio'}`;
}
