/** The stores that are filled, as the tables name them. */
export const FILLED = { redis: 'Redis', postgres: 'Postgres', sqlite: 'SQLite' } as const;
export type FilledName = keyof typeof FILLED;

/** How many events a store may remember; others are compared with the first. */
export const SIZES = [10_000, 100_000, 1_000_000, 10_000_000] as const;

/** A store of this size, as a contender. */
export const contender = (name: FilledName, size: number) => `${name} ${String(size)}`;
