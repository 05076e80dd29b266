import type { PostgresClient } from '../src/index.ts';

/** The answer to the question for the version of the tables. */
export const OF_THESE_TABLES = { version: 1, id: 'of-these-tables', encoding: 'UTF8' };
export const asksForVersion = (text: string) =>
  text.startsWith('SELECT json_build_object(') && text.includes('getdatabaseencoding()');

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
      if (asksForVersion(text)) return shaped(OF_THESE_TABLES);
      calls.push({ text, values });
      return shaped(await reply(text, values));
    },
  };
  return { client, calls };
}
