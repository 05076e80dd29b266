import {
  type Colors,
  join,
  pad,
  type Printable,
  t,
  text,
  type Text,
  widthOf,
  wordsOf,
} from './text.ts';

/**
 * Where a value is cut: URLs in the middle, since both of their ends matter; ids without a `…`, since
 * commands take the beginning of an id for the whole.
 */
type Cut = 'middle' | 'end' | 'id';

/** Shortens a value to a width in columns, with `…` for what is left out. Its colors are lost then. */
export function cut(value: Printable, width: number, where: Cut): Text {
  if (widthOf(value) <= width) return text(value);
  const characters = Array.from(text(value).plain);
  if (where === 'id') return text(take(characters, width).join(''));
  const tailWidth = where === 'middle' ? Math.floor((width - 1) / 2) : 0;
  const tail = take(characters.toReversed(), tailWidth).toReversed();
  const head = take(characters, width - 1 - tailWidth);
  return text(`${head.join('')}…${tail.join('')}`);
}

/** The first characters that fit. */
function take(characters: readonly string[], width: number): string[] {
  let left = width;
  const end = characters.findIndex((character) => (left -= widthOf(character)) < 0);
  return end === -1 ? [...characters] : characters.slice(0, end);
}

/**
 * Breaks a line between words, so that the terminal does not break it inside one. Only a word that is
 * longer than a line is left as it is: it may be something to copy.
 * @param indent of the lines after the first; by default that of the line
 */
export function wrap(line: Text, columns: number, indent = indentOf(line)): Text[] {
  if (widthOf(line) <= columns) return [line];
  const lines: Text[][] = [[]];
  let width = 0;
  for (const word of wordsOf(line)) {
    const words = lines.at(-1) ?? [];
    const more = widthOf(word) + (words.length > 0 ? 1 : 0);
    if (width + more > columns && words.some(({ plain }) => plain !== '')) {
      if (word.plain === '') continue;
      lines.push([word]);
      width = indent + widthOf(word);
    } else {
      words.push(word);
      width += more;
    }
  }
  return lines.map((words, at) =>
    at === 0 ? join(words) : t`${' '.repeat(indent)}${join(words)}`,
  );
}

const indentOf = ({ plain }: Text): number => plain.length - plain.trimStart().length;

/** A paragraph in lines that fit, each of them indented. */
export function paragraph(value: Printable, columns: number, indent = 0): Text[] {
  const MIN_WIDTH = 20;
  const lines = wrap(text(value), Math.max(MIN_WIDTH, columns - indent), 0);
  return lines.map((line) => t`${' '.repeat(indent)}${line}`);
}

/** A column of a table. The most important ones come first: a table is cut at the terminal's width. */
export interface Column {
  readonly title: string;
  /** How a value is shortened that is longer than others may be. */
  readonly cut?: Cut;
  /** The width to keep free for values that come later. */
  readonly width?: number;
}

const GAP = 2;
const MIN_WIDTH = 8;
const ID_WIDTH = 8;
/** No value takes more of a terminal, except for the last one. */
const MAX_WIDTH = 40;

/** The beginning of an id, long enough to tell deliveries apart in a table. */
export const shortId = (id: string): string => id.slice(0, ID_WIDTH);

/** How wide each column is that fits into the terminal. */
function roomOf(
  head: readonly Column[],
  rows: readonly (readonly Printable[])[],
  columns: number,
): number[] {
  const rooms: number[] = [];
  let left = columns;
  for (const [at, { title, cut: how, width = 0 }] of head.entries()) {
    const longest = Math.max(title.length, width, ...rows.map((row) => widthOf(row[at] ?? '')));
    const wanted = wantedWidth(title, longest, how, columns, at === head.length - 1);
    // A few letters of a value tell nothing.
    if (left < Math.min(wanted, MIN_WIDTH)) break;
    rooms.push(Math.min(wanted, left));
    left -= wanted + GAP;
  }
  return rooms;
}

function wantedWidth(
  title: string,
  longest: number,
  how: Cut | undefined,
  columns: number,
  isLast: boolean,
): number {
  if (columns === Infinity) return longest;
  if (how === 'id') return Math.max(title.length, ID_WIDTH);
  return isLast ? longest : Math.min(longest, MAX_WIDTH);
}

/**
 * A table: rows in columns under a dim head. Columns that do not fit into the terminal are left out: see
 * {@link leftOut}.
 * @param columns the width of the terminal; with Infinity nothing is shortened
 */
export function table(
  colors: Colors,
  head: readonly Column[],
  rows: readonly (readonly Printable[])[],
  columns = Infinity,
): Text[] {
  const rooms = roomOf(head, rows, columns);
  const line = (cells: readonly Printable[]): Text =>
    join(
      rooms.map((room, at) => {
        const value = cut(cells[at] ?? '', room, head[at]?.cut ?? 'end');
        return at === rooms.length - 1 ? value : pad(value, room);
      }),
      ' '.repeat(GAP),
    );
  return [colors.dim(line(head.map(({ title }) => title))), ...rows.map(line)];
}

/** The titles of the columns that a table leaves out, since the terminal is too narrow for them. */
export const leftOut = (
  head: readonly Column[],
  rows: readonly (readonly Printable[])[],
  columns: number,
): string[] => head.slice(roomOf(head, rows, columns).length).map(({ title }) => title);

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
  return rows.flatMap(([name, value]) =>
    wrap(text(value), Math.max(MIN_WIDTH, columns - indent), 0).map((line, at) =>
      at === 0
        ? join([colors.dim(pad(name, width)), line], ' '.repeat(GAP))
        : t`${' '.repeat(indent)}${line}`,
    ),
  );
}
