import { escapeControl } from './control-characters.ts';

const TEXT = Symbol('text');

/** A line that is safe to show. Only `t` and an ink make one, so no payload gets around them. */
export interface Text {
  readonly [TEXT]: true;
  /** With colours, if there are any. */
  readonly shown: string;
  /** Without. */
  readonly plain: string;
}

/** What may be put into a text: everything that is not a text already is escaped. */
export type Shown = Text | string | number;

const of = (shown: string, plain: string): Text => ({ [TEXT]: true, shown, plain });

/** A value as a text. */
export function text(value: Shown): Text {
  if (typeof value === 'object') return value;
  const safe = escapeControl(String(value));
  return of(safe, safe);
}

/** A template: its own words stay as they are, its values are escaped. */
export function t(words: TemplateStringsArray, ...values: Shown[]): Text {
  const parts = values.map(text);
  const join = (side: 'shown' | 'plain') =>
    words.map((word, at) => word + (parts[at]?.[side] ?? '')).join('');
  return of(join('shown'), join('plain'));
}

/** Texts behind each other. */
export function joined(parts: readonly Shown[], between = ' '): Text {
  const texts = parts.map(text);
  const join = (side: 'shown' | 'plain') => texts.map((part) => part[side]).join(between);
  return of(join('shown'), join('plain'));
}

/** The same text in a colour. */
export const painted = (value: Shown, paint: (shown: string) => string): Text => {
  const { shown, plain } = text(value);
  return of(paint(shown), plain);
};

/** Fills a text up with spaces. */
export function padded(value: Shown, width: number): Text {
  const { shown, plain } = text(value);
  const fill = ' '.repeat(Math.max(0, width - plain.length));
  return of(shown + fill, plain + fill);
}

/** Several lines, each escaped by itself; at most so many, and none longer than `width`. */
export function lines(value: string, limit = 60, width = 2_000): Text[] {
  const all = value.split(/\r?\n/);
  const shown = all
    .slice(0, limit)
    .map((line) => text(line.length > width ? `${line.slice(0, width)}…` : line));
  if (all.length > limit) shown.push(t`… ${all.length - limit} more lines`);
  return shown;
}
