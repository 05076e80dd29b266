/**
 * What we call of a Postgres client: a `Pool` or `Client` of pg, a `Pool` or the `neon()` function of
 * Neon's driver, PGlite, or anything else with such a `query`.
 */
export interface PostgresClient {
  query(text: string, values?: unknown[]): PromiseLike<unknown>;
}

/** Runs one statement, in one round trip. */
export async function rowsOf<Row>(
  client: PostgresClient,
  text: string,
  values?: unknown[],
): Promise<Row[]> {
  const result = await client.query(text, values);
  // Neon's HTTP driver gives the rows bare.
  return (Array.isArray(result) ? result : (result as { rows: unknown }).rows) as Row[];
}
