import { sha256 } from '@call-webhooks/core/internal';
import type { PostgresClient } from './client.ts';

/** The statement is unknown, or is there already: a pooler gives each transaction another connection. */
const NOT_PREPARED = ['26000', '42P05'];

/** The method of pg, and of Neon over WebSockets, with a statement that has a name. */
interface NamingClient {
  query(statement: { name: string; text: string; values?: unknown[] }): PromiseLike<unknown>;
}

/**
 * The same client, on which a statement is prepared once for each connection. Behind a pooler that
 * can't do so, and with clients other than pg's, statements have no name.
 */
export function preparing(client: PostgresClient): PostgresClient {
  if (!isPg(client)) return client;
  const naming = client as unknown as NamingClient;
  const names = new Map<string, string>();
  let works = true;
  return {
    async query(text, values) {
      if (!works) return client.query(text, values);
      let name = names.get(text);
      if (name === undefined) {
        // By its text: two versions of this package may share a connection of a pooler.
        name = `call-webhooks ${(await sha256(text)).slice(0, 40)}`;
        names.set(text, name);
      }
      try {
        return await naming.query({ name, text, ...(values && { values }) });
      } catch (error) {
        if (!NOT_PREPARED.includes(String((error as { code?: unknown }).code))) throw error;
        works = false; // and nothing was run
        return client.query(text, values);
      }
    },
  };
}

/** A `Pool` has a count of its connections, a `Client` its parameters. */
const isPg = (client: PostgresClient) =>
  typeof Reflect.get(client, 'totalCount') === 'number' || 'connectionParameters' in client;
