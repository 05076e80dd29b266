import type { PostgresClient } from '../src/index.ts';

/** A row with one text, as every statement gives it. */
export const answer = (value: unknown) => ({ rows: [{ answer: JSON.stringify(value) }] });

/**
 * A client that records what it is asked; the version of the tables is asked for once, and is not
 * recorded.
 * @param reply the answer to each statement; what it throws or rejects with, `query` rejects with
 */
export function recordingClient(
  reply: (text: string, values: unknown[]) => unknown = () => true,
  shaped: (value: unknown) => unknown = answer,
) {
  const calls: { text: string; values: unknown[] }[] = [];
  const client: PostgresClient = {
    async query(text, values = []) {
      if (text.includes('schema_version')) return shaped({ version: 2, id: 'of-these-tables' });
      calls.push({ text, values });
      return shaped(await reply(text, values));
    },
  };
  return { client, calls };
}
