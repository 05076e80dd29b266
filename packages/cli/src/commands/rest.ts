import { existsSync } from 'node:fs';
import type { ActivityEvent, CallRecord, Page, Recording } from '@call-webhooks/client';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, environmentError } from '../errors.ts';
import { wholeNumber } from '../input/options.ts';
import { serviceClient, type ServiceOptions, withServiceOptions } from '../service/client.ts';
import { dateTime, size } from '../terminal/format.ts';
import { progressBar } from '../terminal/prompts.ts';
import { type Column, layout, type Layout } from '../terminal/table.ts';
import { type Printable, t, type Text } from '../terminal/text.ts';

/** The flags of every list. */
export interface ListOptions {
  readonly all?: boolean;
  readonly limit?: number;
  readonly next?: string;
}

/** Adds the flags of a list. */
export const withListOptions = (command: Command): Command =>
  command
    .option('--all', 'all pages, not only the first')
    .option('-n, --limit <number>', 'results per page', wholeNumber('--limit', 1, 100_000))
    .option('--next <cursor>', 'continue after an earlier page');

interface Source<T> {
  list(options: object): Promise<Page<T>>;
  iterate(options: object): AsyncGenerator<T, void, undefined>;
}

/** A column of the table for people. */
export interface ShownColumn<T> extends Column {
  readonly value: (record: T) => Printable;
}

/** The widths of a long list come from its first rows. */
const ROWS_TO_MEASURE = 100;

/**
 * Prints one page, or all pages as they are read.
 * @param columnsOf the columns of the table, which may depend on the first record
 */
export async function printList<T>(
  app: App,
  source: Source<T>,
  query: object,
  { all, limit, next }: ListOptions,
  noun: string,
  columnsOf: (first: T) => readonly ShownColumn<T>[],
  howToMakeSome: string,
): Promise<undefined> {
  const { output, signal } = app;
  const request = { ...query, limit, next, signal };
  const page = all ? undefined : await source.list(request);
  const print = printer(app, columnsOf);
  let waiting: T[] = [];
  let count = 0;
  const flush = async () => {
    const records = waiting;
    waiting = [];
    await print(records);
  };
  try {
    for await (const record of page?.results ?? source.iterate(request)) {
      waiting.push(record);
      if (output.json || count >= ROWS_TO_MEASURE || waiting.length === ROWS_TO_MEASURE)
        await flush();
      count++;
      if (signal.aborted) break;
    }
  } finally {
    await flush(); // also what was read before an error
  }
  if (count === 0) output.message(`No ${noun} found. In the simulator: ${howToMakeSome}`);
  if (page?.hasNext) output.message(t`There are more: --all, or --next ${page.next ?? ''}`);
  return undefined;
}

/** Prints records as JSON, or as rows of one table. */
function printer<T>(
  { output }: App,
  columnsOf: (first: T) => readonly ShownColumn<T>[],
): (records: readonly T[]) => Promise<void> {
  let columns: readonly ShownColumn<T>[] | undefined;
  let table: Layout | undefined;
  return async (records) => {
    const [first] = records;
    if (first === undefined) return;
    if (output.json) {
      for (const record of records) await output.print(record);
      return;
    }
    const shown = (columns ??= columnsOf(first));
    const rows = records.map((record) => shown.map(({ value }) => value(record)));
    await output.print(records, (colors): Text[] => {
      const head = table ? [] : [(table = layout(colors, shown, rows, output.columns)).head];
      return [...head, ...rows.map((cells) => (table as Layout).row(cells))];
    });
  };
}

/** `calls`: lists call records. */
export function callsCommand(app: App, base: Command): Command {
  return withListOptions(withServiceOptions(base))
    .addHelpText(
      'after',
      examples(['calls', 'The first page'], ['calls --all --json | jq -r ._id', 'All ids']),
    )
    .action(
      app.action(async (options: ServiceOptions & ListOptions) => {
        const client = await serviceClient(app, options);
        const trigger = 'call-webhooks trigger call';
        return printList(app, client.calls, {}, options, 'calls', columnsOf, trigger);
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
  if (typeof value === 'number' && name.endsWith('At')) return timeText(value);
  if (typeof value !== 'string') return JSON.stringify(value);
  const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(value);
  return isTime ? timeText(value) : value;
}

function timeText(value: string | number): string {
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? String(value) : dateTime(time);
}

/** `events`: lists activity events. */
export function eventsCommand(app: App, base: Command): Command {
  return withListOptions(withServiceOptions(base))
    .argument('[search...]', 'what to search for, in the search language of the service')
    .addHelpText(
      'after',
      `
A search has words, or one "exact subject", and operators: to: (repeatable),
since:, until:, type:, template:, sequence:, from:. Quote it for the shell.
${examples(
  ['events to:example.com type:opened since:2026-01-31', 'Who opened what'],
  [`events 'template:"First call" from:myself' --all`, 'A value of several words is quoted'],
  ['events type:clicked --all --json | jq -r .recipientEmail', 'Fields of all pages'],
)}`,
    )
    .action(
      app.action(async (words: string[], options: ServiceOptions & ListOptions) => {
        const search = words.join(' ');
        const client = await serviceClient(app, options);
        const trigger = 'call-webhooks trigger message';
        return printList(app, client.events, { search }, options, 'events', () => COLUMNS, trigger);
      }),
    );
}

const time = ({ timestamp }: ActivityEvent): string => {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? String(timestamp) : dateTime(date);
};

const title = (event: ActivityEvent): string => {
  const { object } = event as { object?: { title?: unknown } };
  return typeof object?.title === 'string' ? object.title : '';
};

const COLUMNS: readonly ShownColumn<ActivityEvent>[] = [
  { title: 'time', value: time },
  { title: 'action', value: ({ action }) => action },
  {
    title: 'recipient',
    cut: 'middle',
    value: ({ recipientEmail }) => recipientEmail,
  },
  { title: 'subject', cut: 'end', value: ({ subject }) => subject },
  { title: 'object', cut: 'end', value: title },
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
        ['recording 4d0c…', 'Save it; the file appears when it is complete'],
        ['recording 4d0c… -o - | ffplay -', 'Listen to it'],
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
    throw badInput('--json and -o - exclude each other.', 'Remove one of them.');
  if (options.output !== undefined && !toStdout) refuseToReplace(options.output, options);
  const client = await serviceClient(app, options);
  const recording = await client.calls.recording(callId, { signal });
  if (toStdout) {
    for await (const chunk of recording.body) await output.write(chunk);
    return undefined;
  }
  const path = options.output ?? fileName(callId, recording);
  refuseToReplace(path, options);
  const bar = progressBar(io, output.messageColors);
  try {
    const saved = await recording.saveTo(path, {
      onProgress: ({ received, total }) => bar.update(received, total),
      signal,
    });
    bar.clear();
    await output.print(saved, ({ bold }) => t`${bold(path)}  ${size(saved.bytes)}`);
  } finally {
    bar.clear();
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
