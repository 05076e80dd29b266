import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { FaultyEvents } from './faulty-events.ts';
import { refusalOf } from './faulty-verification.ts';

export interface FaultyReceiver {
  readonly url: string;
  readonly effectsUrl: string;
  /** Closes its connections, and forgets what its faults let it forget. */
  restart(): void;
  close(): Promise<void>;
}

/**
 * A small receiver that follows the interface, except for its faults. None of our packages has a part in it.
 * @param faults what it does wrong: mostly the id of the probe that has to notice
 * @param deadlineMs when it answers 503 while its handler runs
 */
export async function faultyReceiver(
  secrets: readonly string[],
  faults: readonly string[] = [],
  deadlineMs = 1_000,
): Promise<FaultyReceiver> {
  const has = (...names: string[]) => names.some((name) => faults.includes(name));
  const events = new FaultyEvents(has, deadlineMs);
  const requestsOn = new WeakMap<Socket, number>();
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
    const requests = (requestsOn.get(request.socket) ?? 0) + 1;
    requestsOn.set(request.socket, requests);
    if (broken || (has('keep-alive') && requests > 1)) return 500;
    let body = has('slow-body') ? await firstChunk(request) : await buffer(request);
    if (request.headers['content-encoding'] === 'gzip') {
      if (has('not-compressed')) return 404;
      if (!has('compressed')) return 415;
      body = gunzipSync(body);
    }
    if (has('byte-order-mark') && body[0] === 0xef) body = body.subarray(3);
    if (has('chunked') && request.headers['transfer-encoding']) return 411;
    if (has('further-headers') && request.rawHeaders.length > 40) return 400;
    return verified(request, body, closed);
  };

  const verified = async (request: IncomingMessage, body: Buffer, closed: Promise<unknown>) => {
    const [id, time, signature] = ['webhook-id', 'timestamp', 'signature'].map((name) =>
      String(request.headers[`x-service-${name}`]),
    ) as [string, string, string];
    const refusal = refusalOf(request, body, secrets, has);
    if (refusal !== undefined) {
      if (has('forged-first')) events.ids.add(id);
      if (has('no-effect-of-refused')) {
        const { callId, eventName } = JSON.parse(body.toString()) as Record<string, string>;
        events.count(`${String(callId)}:${String(eventName)}`);
      }
      return has('never-404') ? 404 : refusal;
    }
    const remembered = has('replay-after-rotation') ? id + signature : id;
    return events.process(body, remembered, Number(time), closed);
  };

  const server = createServer((request, response) => {
    respond(request, response).catch(() => {
      if (has('cut-body')) broken = true;
      response.destroy();
    });
  });
  server.on('clientError', (_error, socket) => {
    if (has('garbage')) broken = true;
    socket.end(`HTTP/1.1 ${has('short-body', 'long-body') ? '200 OK' : '400 Bad Request'}\r\n\r\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url: `${origin}/hook`,
    effectsUrl: `${origin}/effects`,
    restart() {
      server.closeAllConnections();
      events.restart();
      broken ||= has('restart');
    },
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
