/** The stores that several processes share, as the tables name them. */
export const SHARED = { redis: 'Redis', postgres: 'Postgres', sqlite: 'SQLite' } as const;
export type SharedName = keyof typeof SHARED;

/** How many receivers run at once; others are compared with the first. */
export const PROCESSES = [1, 2, 4, 8] as const;
