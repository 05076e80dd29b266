import { once } from 'node:events';
import type { Io, Sink } from '../io.ts';
import { type Column, leftOut, table, wrap } from './table.ts';
import {
  type Colors,
  colorsFor,
  jsonLine,
  type Printable,
  t,
  text,
  type Text,
  wantsColor,
} from './text.ts';

/** The global flags. */
export interface OutputFlags {
  readonly json?: boolean | undefined;
  readonly color?: boolean | undefined;
  readonly wide?: boolean | undefined;
}

/** Writes data to stdout and messages to stderr. */
export class Output {
  readonly json: boolean;
  /** Colors for messages. */
  readonly messageColors: Colors;
  readonly #colors: Colors;
  readonly #io: Io;
  readonly #wide: boolean;

  constructor(io: Io, { json = false, color, wide = false }: OutputFlags) {
    this.json = json;
    this.#wide = wide;
    this.#colors = colorsFor(wantsColor(color, io.env, io.stdout));
    this.messageColors = colorsFor(wantsColor(color, io.env, io.stderr));
    this.#io = io;
  }

  /** The width of the terminal; without a terminal, and with `--wide`, there is no limit. */
  get columns(): number {
    return this.#wide ? Infinity : columnsOf(this.#io.stdout);
  }

  /** The same for messages. */
  get messageColumns(): number {
    return this.#wide ? Infinity : columnsOf(this.#io.stderr);
  }

  /**
   * Prints one record: a line of JSON with `--json`, and lines for people without.
   * @param columns where lines are wrapped; `Infinity` for what people copy
   */
  async print(
    record: unknown,
    render: (colors: Colors) => Text | readonly Text[] = () => [],
    columns = this.columns,
  ): Promise<void> {
    if (this.json) return this.write(`${jsonLine(record)}\n`);
    const rendered = render(this.#colors);
    for (const line of Array.isArray(rendered) ? (rendered as Text[]) : [rendered as Text])
      for (const { styled } of wrap(line, columns)) await this.write(`${styled}\n`);
  }

  /**
   * Prints records as a table, and says which of its columns the terminal is too narrow for.
   * @param more lines below a row
   */
  async printTable(
    record: unknown,
    head: readonly Column[],
    rowsOf: (colors: Colors) => readonly (readonly Printable[])[],
    more: (at: number) => readonly Text[] = () => [],
  ): Promise<void> {
    const { columns } = this;
    await this.print(record, (colors) => {
      const [titles, ...lines] = table(colors, head, rowsOf(colors), columns);
      return [titles ?? text(''), ...lines.flatMap((line, at) => [line, ...more(at)])];
    });
    const missing = leftOut(head, rowsOf(this.#colors), columns);
    if (missing.length > 0)
      this.message(t`The terminal is too narrow for: ${missing.join(', ')}. To see them: --wide`);
  }

  /** Writes data as it is, such as the bytes of a file. Resolves when there is room for more. */
  async write(data: string | Uint8Array): Promise<void> {
    const { stdout, signal } = this.#io;
    if (stdout.destroyed || stdout.write(data)) return;
    const ended = new AbortController();
    const end = AbortSignal.any([signal, ended.signal]);
    const room = ['drain', 'close'].map((event) => once(stdout, event, { signal: end }));
    await Promise.race(room).catch(() => undefined);
    ended.abort();
  }

  /** Prints a message for people to stderr. With `--json`, scripts read, and nothing is printed. */
  message(line: Printable = ''): void {
    if (this.json) return;
    for (const { styled } of wrap(text(line), this.messageColumns))
      this.#io.stderr.write(`${styled}\n`);
  }

  /** Prints a warning to stderr: an object with `--json`. */
  warn(line: Printable): void {
    if (this.json) this.#io.stderr.write(`${jsonLine({ warning: text(line).plain })}\n`);
    this.message(t`${this.messageColors.yellow('warning:')} ${line}`);
  }
}

const columnsOf = ({ isTTY, columns }: Sink): number =>
  isTTY === true ? (columns ?? 80) : Infinity;
