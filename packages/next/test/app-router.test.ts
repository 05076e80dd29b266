import type { IncomingMessage, ServerResponse } from 'node:http';
import { adapterBattery, listening } from '@call-webhooks/testing';
import { callWebhooks, type RouteHandler } from '../src/index.ts';

/** What Next does around a route handler: a `Request` from Node's, and the `Response` written back. */
async function serve(handler: RouteHandler, incoming: IncomingMessage, outgoing: ServerResponse) {
  const { method = 'GET', headers } = incoming;
  if (method !== 'POST') {
    outgoing.writeHead(405).end(); // Next's own answer where only POST is exported
    return;
  }
  let cancelled = false;
  const request = new Request('http://next.local/hook', {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    body: new ReadableStream<Uint8Array>({
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
    }),
    duplex: 'half',
  });
  const response = await handler(request);
  outgoing
    .writeHead(response.status, Object.fromEntries(response.headers))
    .end(await response.text());
}

adapterBattery({
  name: 'Next.js App Router',
  async mount(options) {
    const handler = callWebhooks(options);
    const { origin, close } = await listening(
      (incoming, outgoing) => void serve(handler, incoming, outgoing),
    );
    return { url: `${origin}/hook`, receiver: handler.receiver, close };
  },
});
