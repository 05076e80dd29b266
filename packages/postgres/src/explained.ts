const UNDEFINED_TABLE = '42P01';

/** The client's error; where the tables are missing, one that says what to do. */
export function explained(error: unknown): unknown {
  if ((error as { code?: unknown } | null)?.code !== UNDEFINED_TABLE) return error;
  return new Error('The tables of the store are missing: run `await store.migrate()` once.', {
    cause: error,
  });
}
