import { isUtf8 } from 'node:buffer';
import { Help } from 'commander';
import type { Colors } from './colors.ts';
import { join, pad, t, text, widthOf, type Printable, type Text } from './text.ts';

/** A local time of day such as `16:49:39`. */
export const timeOfDay = (ms: number): string =>
  Number.isFinite(ms) ? new Date(ms).toLocaleTimeString('en-GB', { hour12: false }) : '--:--:--';

/** A local date and time such as `2026-01-31 16:49:39`. */
export const dateTime = (date: Date): string => date.toLocaleString('sv-SE');

/** A duration such as `450 ms`, `4.2 s`, `5 min 3 s` or `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0).replace(/\.0$/, '')} s`;
  const seconds = Math.round(ms / 1_000);
  const [hours, minutes, rest] = [
    Math.floor(seconds / 3_600),
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ];
  if (hours > 0) return minutes > 0 ? `${hours} h ${minutes} min` : `${hours} h`;
  return rest > 0 ? `${minutes} min ${rest} s` : `${minutes} min`;
}

/** A size such as `1.5 kB`. */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The beginning of an id, long enough to tell deliveries apart in a table. */
export const shortId = (id: string): string => id.slice(0, 8);

/**
 * Rows in columns under a dim head. The last column is not padded.
 * @param columns the width of the terminal; longer text in the last column is wrapped
 */
export function table(
  colors: Colors,
  head: readonly string[],
  rows: readonly Printable[][],
  columns = Infinity,
): Text[] {
  const cells = rows.map((row) => row.map(text));
  const widths = head
    .slice(0, -1)
    .map((title, at) =>
      Math.max(title.length, ...cells.map((row) => (row[at] ? widthOf(row[at]) : 0))),
    );
  const indent = widths.reduce((sum, width) => sum + width + 2, 0);
  const lines = (row: readonly Printable[]): Text[] => {
    const start = widths.map((width, at) => pad(row[at] ?? '', width));
    const last = text(row.at(-1) ?? '');
    if (indent + widthOf(last) <= columns) return [join([...start, last], '  ')];
    const [first = t``, ...rest] = paragraph(last.plain, columns, indent);
    return [join([...start, first.plain.trimStart()], '  '), ...rest];
  };
  return [...lines(head).map(colors.dim), ...cells.flatMap(lines)];
}

/** Names and their values, one pair per line. */
export function pairs(colors: Colors, rows: readonly (readonly [string, Printable])[]): Text[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => join([colors.dim(pad(name, width)), value], '  '));
}

/** A paragraph in lines that fit the width, each behind the indent. */
export function paragraph(value: string, columns: number, indent = 0): Text[] {
  const MIN_WIDTH = 20;
  const help = Object.assign(new Help(), { minWidthToWrap: MIN_WIDTH });
  const wrapped = Number.isFinite(columns)
    ? help.boxWrap(value, Math.max(MIN_WIDTH, columns - indent))
    : value;
  return wrapped.split('\n').map((line) => t`${' '.repeat(indent)}${line.trimEnd()}`);
}

/** The lines of a text, each escaped. @param limit lines; the rest is counted */
export function lines(value: string, limit = 60): Text[] {
  const MAX_LINE = 2_000;
  const all = value.split(/\r?\n/);
  const shown = all
    .slice(0, limit)
    .map((line) => text(line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line));
  if (all.length > limit) shown.push(t`… ${all.length - limit} more lines`);
  return shown;
}

/** A body for people: JSON is indented, other text stays as it is, and bytes are counted. */
export function bodyLines(body: string | Uint8Array, limit = 60): Text[] {
  if (typeof body !== 'string') {
    if (!isUtf8(body)) return [t`(${body.length} bytes that are not UTF-8)`];
    return bodyLines(Buffer.from(body).toString('utf8'), limit);
  }
  return body === '' ? [] : lines(indented(body), limit);
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
