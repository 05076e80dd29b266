import type { CallBody } from './samples.ts';

/** One field over all bodies of call events. */
export interface Column {
  readonly name: string;
  /** Where it has a value, body by body. Null and empty texts count as no value. */
  readonly cells: readonly Cell[];
  /** Whether every body has a value for it. */
  readonly always: boolean;
  /** Whether bodies of the same call have the same value. */
  readonly steady: boolean;
}

/** The value of a field in one body. */
export interface Cell {
  readonly body: CallBody;
  readonly value: unknown;
}

// The spec shows these names, and custom ones are looked for beside them.
const known = new Set(['eventName', 'eventId', 'callId', 'fromPhoneNumber']);

/** Turns bodies into one column for each field whose name the spec does not show. */
export function columnsOf(bodies: readonly CallBody[]): Column[] {
  const cells = new Map<string, Cell[]>();
  for (const body of bodies) {
    for (const [name, value] of Object.entries(body.fields)) {
      if (known.has(name) || value === null || value === '' || value === undefined) continue;
      const list = cells.get(name) ?? [];
      list.push({ body, value });
      cells.set(name, list);
    }
  }
  return [...cells].map(([name, list]) => ({
    name,
    cells: list,
    always: list.length === bodies.length,
    steady: isSteady(list),
  }));
}

function isSteady(cells: readonly Cell[]): boolean {
  const first = new Map<string | number, unknown>();
  return cells.every(({ body, value }) => {
    if (!first.has(body.call)) first.set(body.call, value);
    return first.get(body.call) === value;
  });
}

/** Whether every value of a column passes a test. */
export function all(column: Column, test: (value: unknown, body: CallBody) => boolean): boolean {
  return column.cells.every(({ value, body }) => test(value, body));
}

/** How many different values a column has. */
export function distinct(column: Column): number {
  return new Set(column.cells.map(({ value }) => value)).size;
}
