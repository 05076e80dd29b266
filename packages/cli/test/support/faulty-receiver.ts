import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { FaultyEvents } from './faulty-events.ts';
import { refusalOf } from './faulty-verification.ts';

export interface FaultyReceiver {
  readonly url: string;
  readonly effectsUrl: string;
  close(): Promise<void>;
}

/**
 * A small receiver that follows the interface, except for its faults. None of our packages has a part in it.
 * @param faults what it does wrong: see `grader.integration.test.ts`
 * @param deadlineMs when it answers 503 while its handler runs
 */
export async function faultyReceiver(
  secrets: readonly string[],
  faults: readonly string[] = [],
  deadlineMs = 1_000,
): Promise<FaultyReceiver> {
  const has = (...names: string[]) => names.some((name) => faults.includes(name));
  const events = new FaultyEvents(has, deadlineMs);
  let broken = false;

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === '/effects') {
      const list = [...events.effects].map(([key, count]) => ({ key, count }));
      response.end(JSON.stringify(list));
      return;
    }
    if (has('clock')) response.setHeader('Date', new Date(Date.now() + 120_000).toUTCString());
    response.writeHead(await statusOf(request, once(response, 'close'))).end();
  };

  const statusOf = async (request: IncomingMessage, closed: Promise<unknown>): Promise<number> => {
    if (request.method !== 'POST') return 405;
    if (broken) return 500;
    const body = has('slow-body') ? await firstChunk(request) : await buffer(request);
    return verified(request, body, closed);
  };

  const verified = async (request: IncomingMessage, body: Buffer, closed: Promise<unknown>) => {
    const id = String(request.headers['x-service-webhook-id'] ?? randomUUID());
    const refusal = refusalOf(request, body, secrets, has);
    if (refusal !== undefined) {
      if (has('forged-first')) events.ids.add(id);
      if (has('effect-of-refused')) {
        const [, name, callId] = /"eventName":"(.+?)","callId":"(.+?)"/.exec(body.toString()) ?? [];
        events.count(`${String(callId)}:${String(name)}`);
      }
      return has('answers-404') ? 404 : refusal;
    }
    return events.process(body, id, closed);
  };

  const server = createServer((request, response) => {
    respond(request, response).catch(() => {
      if (has('cut-body')) broken = true;
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url: `${origin}/hook`,
    effectsUrl: `${origin}/effects`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What a receiver gets that reads once. */
async function firstChunk(request: IncomingMessage): Promise<Buffer> {
  for await (const chunk of request as AsyncIterable<Buffer>) return chunk;
  return Buffer.alloc(0);
}
