import type { IncomingMessage, ServerResponse } from 'node:http';
import { serveLocally } from '@call-webhooks/contract-tests';

/** What a route of Next's App Router exports, and a fetch-style server takes. */
export type RouteHandler = (request: Request) => Promise<Response>;

/**
 * Serves a route handler over real HTTP, for POST only, as Next does where only POST is exported.
 * @param ready answers GET at `/ready`
 */
export const routeHandlerServer = (handler: RouteHandler, ready?: RouteHandler) =>
  serveLocally((incoming, outgoing) => {
    const isProbe = incoming.url === '/ready' && incoming.method === 'GET';
    void serve(isProbe ? ready : handler, incoming, outgoing);
  });

/** What Next does around a route handler: a `Request` from Node's, and the `Response` written back. */
async function serve(
  handler: RouteHandler | undefined,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) {
  if (handler === undefined || (incoming.method !== 'POST' && incoming.url !== '/ready')) {
    outgoing.writeHead(405).end();
    return;
  }
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      incoming.on('data', (chunk: Uint8Array) => {
        if (!cancelled) controller.enqueue(new Uint8Array(chunk));
      });
      incoming.on('end', () => {
        if (!cancelled) controller.close();
      });
    },
    cancel() {
      cancelled = true;
      incoming.resume();
    },
  });
  const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const url = `http://next.local${incoming.url ?? '/hook'}`;
  const init = {
    method: incoming.method ?? 'GET',
    headers: Object.fromEntries(headers),
    ...(incoming.method === 'POST' && { body, duplex: 'half' as const }),
  };
  const response = await handler(new Request(url, init));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(await response.text());
}
