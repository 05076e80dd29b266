import type { Colors } from './colors.ts';
import { cut, wrap, type Cut } from './fit.ts';
import { join, pad, t, text, widthOf, type Printable, type Text } from './text.ts';

/** A column of a table. */
export interface Column {
  readonly title: string;
  /** How its values may be shortened. */
  readonly cut?: Cut;
  /** The least width to which values are cut. */
  readonly min?: number;
  /** Where it is too narrow, columns are left out: the highest number first. Without it, never. */
  readonly drop?: number;
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

/** The beginning of an id, long enough to tell deliveries apart in a table. */
export const shortId = (id: string): string => id.slice(0, ID_WIDTH);

/**
 * Chooses the columns and their widths, so that no row is wider than the terminal.
 * @param rows what is known of the rows
 * @param columns the width of the terminal; with Infinity nothing is shortened
 */
export function layout(
  colors: Colors,
  head: readonly Column[],
  rows: readonly (readonly Printable[])[],
  columns = Infinity,
): Layout {
  const natural = head.map(({ title, cut: how, width = 0 }, at) => {
    const longest = Math.max(title.length, width, ...rows.map((row) => widthOf(row[at] ?? '')));
    return how === 'id' && columns !== Infinity ? Math.max(title.length, ID_WIDTH) : longest;
  });
  const widths = fitted(head, natural, columns);
  const shown = head.flatMap((column, at) => {
    const width = widths[at];
    return width === undefined ? [] : [{ at, width, column }];
  });
  const line = (cells: readonly Printable[]): Text =>
    join(
      shown.map(({ at, width, column: { cut: how } }, index) => {
        const value = text(cells[at] ?? '');
        if (index === shown.length - 1 && columns === Infinity) return value;
        const short = how ? cut(value, width, how) : value;
        return index === shown.length - 1 ? short : pad(short, width);
      }),
      ' '.repeat(GAP),
    );
  return { head: colors.dim(line(head.map(({ title }) => title))), row: line };
}

/** The width of each column; undefined for those that are left out. */
function fitted(
  head: readonly Column[],
  natural: readonly number[],
  columns: number,
): (number | undefined)[] {
  const widths: (number | undefined)[] = [...natural];
  const over = () => {
    const kept = widths.filter((width) => width !== undefined);
    return kept.reduce((sum, width) => sum + width + GAP, -GAP) - columns;
  };
  const least = ({ cut: how, min = MIN_WIDTH, title }: Column, width: number): number =>
    how === 'middle' || how === 'end' ? Math.min(width, Math.max(min, title.length)) : width;
  const lowest = () =>
    head.reduce((sum, column, at) => {
      const width = widths[at];
      return width === undefined ? sum : sum + least(column, width) + GAP;
    }, -GAP);
  while (lowest() > columns) {
    const [last] = head
      .map(({ drop = 0 }, at) => ({ drop, at }))
      .filter(({ drop, at }) => drop > 0 && widths[at] !== undefined)
      .sort((one, other) => other.drop - one.drop);
    if (!last) break;
    widths[last.at] = undefined;
  }
  while (over() > 0) {
    // The column with the most to spare is shortened first.
    const spare = head.map((column, at) => {
      const width = widths[at];
      return width === undefined ? 0 : width - least(column, width);
    });
    const most = Math.max(...spare);
    if (most <= 0) break;
    const at = spare.indexOf(most);
    widths[at] = (widths[at] ?? 0) - 1;
  }
  return widths;
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
