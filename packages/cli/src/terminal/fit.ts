import { join, style, t, text, widthOf, wordsOf, type Printable, type Text } from './text.ts';

/**
 * Where a value is cut: URLs in the middle, since both of their ends matter; ids without a `…`, since
 * commands take the beginning of an id for the whole.
 */
export type Cut = 'middle' | 'end' | 'id';

/** Shortens a value to a width in columns, with `…` for what is left out. */
export function cut(value: Printable, width: number, where: Cut): Text {
  const { plain } = text(value);
  if (widthOf(value) <= width) return text(value);
  const characters = Array.from(plain);
  if (where === 'id') return text(take(characters, width).join(''));
  const tailWidth = where === 'middle' ? Math.floor((width - 1) / 2) : 0;
  const tail = take(characters.toReversed(), tailWidth).toReversed();
  const head = take(characters, width - 1 - tailWidth);
  const start = where === 'end' ? wholeWords(head.join('')) : head.join('');
  const short = `${start}…${tail.join('')}`;
  // A style of only a part of the value cannot be kept: the part may be cut off.
  if (!text(value).styled.includes(plain)) return text(short);
  return style(short, (safe) => text(value).styled.replace(plain, () => safe));
}

/** Without the part of a word at the end, unless that is most of it. */
const wholeWords = (part: string): string => {
  const end = part.lastIndexOf(' ');
  return end > part.length / 2 ? `${part.slice(0, end)} ` : part;
};

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
