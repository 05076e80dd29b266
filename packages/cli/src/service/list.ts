import type { Page } from '@call-webhooks/client';
import type { Command } from 'commander';
import type { App } from '../app.ts';
import { wholeNumber } from '../input/options.ts';
import { layout, type Column, type Layout } from '../terminal/table.ts';
import { t, type Printable, type Text } from '../terminal/text.ts';

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
