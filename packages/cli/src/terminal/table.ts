import type { Colors } from './colors.ts';
import { cut, wrap, type Cut } from './fit.ts';
import { join, pad, t, text, widthOf, type Printable, type Text } from './text.ts';

/** A column of a table. The most important ones come first: a table is cut at the terminal's width. */
export interface Column {
  readonly title: string;
  /** How a value is shortened that is longer than others may be. */
  readonly cut?: Cut;
  /** The width to keep free for values that come later. */
  readonly width?: number;
}

/** Rows of one table, which may be printed one after another. */
export interface Layout {
  readonly head: Text;
  readonly row: (cells: readonly Printable[]) => Text;
}

const GAP = 2;
const MIN_WIDTH = 8;
const ID_WIDTH = 8;
/** No value takes more of a terminal, except for the last one. */
const MAX_WIDTH = 40;

/** The beginning of an id, long enough to tell deliveries apart in a table. */
export const shortId = (id: string): string => id.slice(0, ID_WIDTH);

/**
 * Chooses the widths of columns. What is beyond the terminal's width is cut off.
 * @param rows what is known of the rows
 * @param columns the width of the terminal; with Infinity nothing is shortened
 */
export function layout(
  colors: Colors,
  head: readonly Column[],
  rows: readonly (readonly Printable[])[],
  columns = Infinity,
): Layout {
  const widths = head.map(({ title, cut: how, width = 0 }, at) => {
    const longest = Math.max(title.length, width, ...rows.map((row) => widthOf(row[at] ?? '')));
    if (columns === Infinity) return longest;
    if (how === 'id') return Math.max(title.length, ID_WIDTH);
    return at < head.length - 1 ? Math.min(longest, MAX_WIDTH) : longest;
  });
  const line = (cells: readonly Printable[]): Text => {
    let left = columns;
    const shown = widths.flatMap((width, at) => {
      const room = Math.min(width, left);
      left -= width + GAP;
      if (room <= 0) return [];
      const isLast = at === widths.length - 1 || left <= 0;
      const value = cut(cells[at] ?? '', room, head[at]?.cut ?? 'end');
      return [isLast ? value : pad(value, width)];
    });
    return join(shown, ' '.repeat(GAP));
  };
  return { head: colors.dim(line(head.map(({ title }) => title))), row: line };
}

/** A whole table: rows in columns under a dim head. */
export function table(
  colors: Colors,
  head: readonly Column[],
  rows: readonly (readonly Printable[])[],
  columns = Infinity,
): Text[] {
  const { head: first, row } = layout(colors, head, rows, columns);
  return [first, ...rows.map(row)];
}

/**
 * Names and their values, one pair per line. Values that do not fit are wrapped between words, and words
 * are never cut: they are ids, URLs and secrets, to be copied.
 */
export function pairs(
  colors: Colors,
  rows: readonly (readonly [string, Printable])[],
  columns = Infinity,
): Text[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  const indent = width + GAP;
  return rows.flatMap(([name, value]) => {
    const title = colors.dim(pad(name, width));
    const room = Math.max(MIN_WIDTH, columns - indent);
    const [first = t``, ...rest] = wrap(text(value), room, 0);
    return [
      join([title, first], ' '.repeat(GAP)),
      ...rest.map((line) => t`${' '.repeat(indent)}${line}`),
    ];
  });
}
