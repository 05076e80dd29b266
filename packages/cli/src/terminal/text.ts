import { styleText } from 'node:util';
import stringWidth from 'fast-string-width';
import type { Io, Sink } from '../io.ts';

// Control and format characters, line separators and lone surrogates: C0, C1, escape sequences,
// bidirectional overrides, tags. The joiners of emoji and of some scripts are harmless.
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');

/** Escapes everything in one line that could move the cursor, set colors or reverse the text. */
export function escapeControl(text: string): string {
  return text.replace(UNSAFE, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return SHORT[char] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 1)}}`);
  });
}

/** Whether a text is safe as it is. Line feeds and tabs are allowed. */
export const isPrintable = (text: string): boolean =>
  text.replace(/[\n\t]/g, '').search(UNSAFE) === -1;

/** JSON in one line, with everything escaped that a terminal could obey. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (char) =>
    [...Array(char.length).keys()].map((at) => `\\u${hex(char.charCodeAt(at), 4)}`).join(''),
  );
}

const TEXT = Symbol('text');

/** A line that is safe to print. Only this file and the colors create one. */
export interface Text {
  readonly [TEXT]: true;
  /** With colors, if there are any. */
  readonly styled: string;
  /** Without colors. */
  readonly plain: string;
}

/** What may become part of a text. Strings are escaped. */
export type Printable = Text | string | number;

const create = (styled: string, plain: string): Text => ({ [TEXT]: true, styled, plain });

/** Converts a value to a text. */
export function text(value: Printable): Text {
  if (typeof value === 'object') return value;
  const safe = escapeControl(String(value));
  return create(safe, safe);
}

/** A template. Its own words stay as they are, its values are escaped. */
export const t = (words: TemplateStringsArray, ...values: Printable[]): Text =>
  join(
    words.flatMap((word, at) => [create(word, word), values[at] ?? '']),
    '',
  );

/** Joins texts. */
export function join(parts: readonly Printable[], between = ' '): Text {
  const texts = parts.map(text);
  const build = (side: 'styled' | 'plain') => texts.map((part) => part[side]).join(between);
  return create(build('styled'), build('plain'));
}

/** The columns that a text takes in a terminal: two for a wide character. */
export const widthOf = (value: Printable): number => stringWidth(text(value).plain);

/** Pads a text with spaces to a width in columns. */
export function pad(value: Printable, width: number): Text {
  const { styled, plain } = text(value);
  const fill = ' '.repeat(Math.max(0, width - widthOf(value)));
  return create(styled + fill, plain + fill);
}

/** The words of a line, each with its part of the colors. Color codes contain no spaces. */
export function wordsOf({ styled, plain }: Text): Text[] {
  const withColors = styled.split(' ');
  return plain.split(' ').map((word, at) => create(withColors[at] ?? word, word));
}

const STYLES = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan', 'magenta'] as const;

/** The colors of one stream. Where colors are off, they change nothing. */
export type Colors = Readonly<Record<(typeof STYLES)[number], (value: Printable) => Text>>;

/** Creates colors. */
export function colorsFor(enabled: boolean): Colors {
  const paint = (name: (typeof STYLES)[number]) => (value: Printable) => {
    const { styled, plain } = text(value);
    return enabled
      ? create(styleText(name, styled, { validateStream: false }), plain)
      : text(value);
  };
  return Object.fromEntries(STYLES.map((name) => [name, paint(name)])) as Colors;
}

/**
 * Whether a stream gets colors. `--color` and `--no-color` decide first, then `FORCE_COLOR`, then
 * `NO_COLOR` (any value but an empty one), then whether it is a terminal that can show colors.
 */
export function wantsColor(flag: boolean | undefined, env: Io['env'], stream: Sink): boolean {
  if (flag !== undefined) return flag;
  const { FORCE_COLOR, NO_COLOR, TERM } = env;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '')
    return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  return stream.isTTY === true && TERM !== 'dumb';
}
