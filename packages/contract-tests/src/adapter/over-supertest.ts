import supertest from 'supertest';
import type { Transport } from '../sender.ts';

/** As the users of the adapters send in their own tests; see docs/testing.md. */
export const overSupertest: Transport = async (url, method, headers, body) => {
  const { origin, pathname, search } = new URL(url);
  const client = supertest(origin);
  const outgoing = client[method.toLowerCase() as 'post'](pathname + search);
  void outgoing.agent(false as never); // a connection for each request
  // Superagent's types know no header that comes twice, but Node sends it.
  for (const [name, value] of headers) void outgoing.set(name, value as string);
  // The bytes as they are: superagent would write a Buffer as JSON of its own.
  if (body !== undefined) void outgoing.serialize((bytes) => bytes as string).send(body);
  const { status, text } = await outgoing;
  return { status, text };
};
