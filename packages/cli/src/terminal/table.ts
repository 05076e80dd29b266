import type { Ink } from './ink.ts';
import { joined, padded, text, type Shown, type Text } from './text.ts';

/** Rows in columns, with a dim head. The last column is not filled up. */
export function table(ink: Ink, head: readonly string[], rows: readonly Shown[][]): Text[] {
  const cells = rows.map((row) => row.map(text));
  const widths = head.map((title, at) =>
    Math.max(title.length, ...cells.map((row) => row[at]?.plain.length ?? 0)),
  );
  const line = (row: readonly Shown[]) =>
    joined(
      row.map((cell, at) => (at === row.length - 1 ? cell : padded(cell, widths[at] ?? 0))),
      '  ',
    );
  return [ink.dim(line(head)), ...cells.map(line)];
}

/** Names and what they stand for, one under the other. */
export function pairs(ink: Ink, rows: readonly (readonly [string, Shown])[]): Text[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => joined([ink.dim(padded(name, width)), value], '  '));
}
