import type { Page } from '@call-webhooks/client';
import type { Command } from 'commander';
import { stringify } from 'csv-stringify/sync';
import type { App } from '../app.ts';
import { badInput } from '../errors.ts';
import { wholeNumber } from '../input/options.ts';
import { layout, type Column, type Layout } from '../terminal/table.ts';
import { escapeLines, t, type Printable, type Text } from '../terminal/text.ts';

/** The flags of every list. */
export interface ListOptions {
  readonly all?: boolean;
  readonly limit?: number;
  readonly next?: string;
  readonly csv?: boolean;
}

/** Adds the flags of a list. */
export const withListOptions = (command: Command): Command =>
  command
    .option('--all', 'all pages, not only the first')
    .option('-n, --limit <number>', 'results per page', wholeNumber('--limit', 1, 100_000))
    .option('--next <cursor>', 'continue after an earlier page')
    .option('--csv', 'print CSV that is safe to open in a spreadsheet');

/** The columns of a CSV: how each gets its value from a record. */
export type Columns<T> = Readonly<Record<string, (record: T) => unknown>>;

interface Source<T> {
  list(options: object): Promise<Page<T>>;
  iterate(options: object): AsyncGenerator<T, void, undefined>;
}

/** A column of the table for people. */
export interface ShownColumn<T> extends Column {
  readonly value: (record: T) => Printable;
}

/** How records are shown. The columns may depend on the first record. */
interface View<T> {
  readonly noun: string;
  /** Of the CSV. */
  columns(first: T): Columns<T>;
  /** Of the table. */
  shown(first: T): readonly ShownColumn<T>[];
}

/** Prints one page, or all pages as they are read. */
export async function printList<T>(
  app: App,
  source: Source<T>,
  query: object,
  { all, limit, next, csv }: ListOptions,
  view: View<T>,
): Promise<undefined> {
  const { io, output, signal } = app;
  if (csv && output.json)
    throw badInput('--csv and --json exclude each other.', 'Remove one of them.');
  // A pipe or a file gets the fields as they are. A terminal must not obey them.
  const writeCsv = (text: string) => output.write(io.stdout.isTTY ? escapeLines(text) : text);
  const request = { ...query, limit, next, signal };
  const page = all ? undefined : await source.list(request);
  let columns: Columns<T> | undefined;
  const table = new TablePrinter(app, view);
  let count = 0;
  try {
    for await (const record of page?.results ?? source.iterate(request)) {
      count++;
      if (csv) {
        if (!columns) await writeCsv(csvRow(Object.keys((columns = view.columns(record)))));
        await writeCsv(csvLine(columns, record));
      } else if (output.json) await output.print(record);
      else await table.add(record);
      if (signal.aborted) break;
    }
  } finally {
    await table.end(); // also what was read before an error
  }
  if (count === 0) output.message(`No ${view.noun} found.`);
  if (page?.hasNext) output.message(t`There are more: --all, or --next ${page.next ?? ''}`);
  return undefined;
}

/** The widths of a long list come from its first rows. */
const ROWS_TO_MEASURE = 100;

/** Prints a table while its records are still being read. */
class TablePrinter<T> {
  readonly #app: App;
  readonly #view: View<T>;
  #waiting: T[] = [];
  #shown: readonly ShownColumn<T>[] = [];
  #layout: Layout | undefined;

  constructor(app: App, view: View<T>) {
    this.#app = app;
    this.#view = view;
  }

  async add(record: T): Promise<void> {
    this.#waiting.push(record);
    if (this.#layout || this.#waiting.length >= ROWS_TO_MEASURE) await this.end();
  }

  /** Prints what is waiting. */
  async end(): Promise<void> {
    const records = this.#waiting;
    const [first] = records;
    if (first === undefined) return;
    this.#waiting = [];
    const isStart = !this.#layout;
    if (isStart) this.#shown = this.#view.shown(first);
    const rows = records.map((record) => this.#shown.map(({ value }) => value(record)));
    const { output } = this.#app;
    await output.print(records, (colors): Text[] => {
      this.#layout ??= layout(colors, this.#shown, rows, output.columns);
      const { head, row } = this.#layout;
      const lines = rows.map((cells) => row(cells));
      return isStart ? [head, ...lines] : lines;
    });
  }
}

/** A record as a line of CSV (RFC 4180). */
export const csvLine = <T>(columns: Columns<T>, record: T): string =>
  csvRow(Object.values(columns).map((valueOf) => valueOf(record)));

// A spreadsheet would run a cell that starts like a formula. An apostrophe in front makes it text.
const csvRow = (cells: readonly unknown[]): string =>
  stringify([cells.map(csvCell)], { escape_formulas: true, record_delimiter: 'windows' });

function csvCell(value: unknown): string | number | boolean | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
