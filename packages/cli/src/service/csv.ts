import { stringify } from 'csv-stringify/sync';

/** How a column gets its value out of a record. */
export type Columns<T> = Readonly<Record<string, (record: T) => unknown>>;

// Spreadsheets run what begins so; behind an apostrophe it is text to them.
const row = (cells: readonly unknown[]): string =>
  stringify([cells.map(cell)], { escape_formulas: true, record_delimiter: 'windows' });

function cell(value: unknown): string | number | boolean | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const csvHead = (columns: Columns<never>): string => row(Object.keys(columns));

/** A record as a line of CSV (RFC 4180). */
export const csvLine = <T>(columns: Columns<T>, record: T): string =>
  row(Object.values(columns).map((valueOf) => valueOf(record)));
