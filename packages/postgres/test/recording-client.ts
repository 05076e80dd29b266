import type { PostgresClient } from '../src/client.ts';

/**
 * A client that records what it is asked.
 * @param reply the rows of each statement; what it throws, `query` rejects with
 */
export function recordingClient(
  reply: (text: string, values: unknown[] | undefined) => unknown = () => [],
) {
  const calls: { text: string; values: unknown[] | undefined }[] = [];
  const client: PostgresClient = {
    async query(text, values) {
      calls.push({ text, values });
      return Promise.resolve({ rows: reply(text, values) });
    },
  };
  return { client, calls };
}
