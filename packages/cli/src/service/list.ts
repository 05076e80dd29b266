import type { Page } from '@call-webhooks/client';
import type { App } from '../app.ts';
import { badInput } from '../cli-error.ts';
import { escapeLines } from '../terminal/control-characters.ts';
import type { Ink } from '../terminal/ink.ts';
import { t, type Text } from '../terminal/text.ts';
import { csvHead, csvLine, type Columns } from './csv.ts';

/** The flags of every list. */
export interface ListOptions {
  readonly all?: boolean;
  readonly limit?: number;
  readonly next?: string;
  readonly csv?: boolean;
}

interface Source<T> {
  list(options: object): Promise<Page<T>>;
  iterate(options: object): AsyncGenerator<T, void, undefined>;
}

/** How records are shown. The columns may depend on the first of them. */
interface View<T> {
  readonly what: string;
  columns(first: T): Columns<T>;
  line(ink: Ink, record: T): Text;
}

/** Lists one page, or with `--all` everything, as fast as it is read. */
export async function showList<T>(
  app: App,
  source: Source<T>,
  query: object,
  { all, limit, next, csv }: ListOptions,
  view: View<T>,
): Promise<undefined> {
  const { io, output, signal } = app;
  if (csv && output.json) throw badInput('--csv and --json exclude each other.');
  // A pipe and a file get what the fields hold; a terminal must not obey it.
  const csvOut = (lines: string) => output.raw(io.stdout.isTTY ? escapeLines(lines) : lines);
  const asked = { ...query, limit, next, signal };
  const page = all ? undefined : await source.list(asked);
  let columns: Columns<T> | undefined;
  let count = 0;
  for await (const record of page?.results ?? source.iterate(asked)) {
    count++;
    if (csv) {
      if (!columns) await csvOut(csvHead((columns = view.columns(record))));
      await csvOut(csvLine(columns, record));
    } else await output.show(record, (ink) => view.line(ink, record));
    if (signal.aborted) break;
  }
  if (count === 0) output.say(`There are no such ${view.what}.`);
  if (page?.hasNext) output.say(t`There are more: --all, or --next ${page.next ?? ''}`);
  return undefined;
}
