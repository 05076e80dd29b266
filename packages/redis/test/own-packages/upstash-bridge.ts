import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';

type Reply = { result: unknown } | { error: string };

/**
 * Speaks Upstash's REST protocol in front of a real server: a command is a JSON array, and `/pipeline`
 * takes a list of them; each is answered `{ result }` or `{ error }`.
 */
export async function upstashBridge(
  port: number,
): Promise<{ url: string; close(): Promise<void> }> {
  const redis = new Redis(port, '127.0.0.1', { socketTimeout: 60_000 });
  redis.on('error', () => undefined);
  const run = ([command, ...args]: string[]): Promise<Reply> =>
    redis.call(String(command), ...args).then(
      (result) => ({ result }),
      (error: unknown) => ({ error: (error as Error).message }),
    );

  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      const input = JSON.parse(body) as string[] & string[][];
      const replies =
        request.url === '/pipeline' ? await Promise.all(input.map(run)) : await run(input);
      response.writeHead('error' in replies ? 400 : 200).end(JSON.stringify(replies));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    async close() {
      redis.disconnect();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
