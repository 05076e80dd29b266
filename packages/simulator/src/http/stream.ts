import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Change } from '../records.ts';
import type { Simulation } from '../simulation.ts';
import { changesView } from './views.ts';

/** Real milliseconds for which changes are collected into one event. */
const GATHER_MS = 80;
const KEEP_ALIVE_MS = 15_000;
/** A listener that stops reading is disconnected. It fetches the state when it reconnects. */
const UNREAD_BYTES = 1 << 22;

/**
 * `GET /_sim/stream`: server-sent events. Each `changes` event holds a `ChangesView`.
 */
export function streamRoute(app: FastifyInstance, simulation: Simulation): void {
  const listeners = new Set<ServerResponse>();
  let gathered: Change[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function send(): void {
    timer = undefined;
    const changes = gathered;
    gathered = [];
    if (listeners.size === 0) return;
    const data = JSON.stringify(changesView(simulation, changes));
    for (const listener of listeners)
      if (listener.writableLength > UNREAD_BYTES) listener.destroy();
      else listener.write(`event: changes\ndata: ${data}\n\n`);
  }

  const unsubscribe = simulation.changes.subscribe((change) => {
    if (listeners.size === 0) return;
    gathered.push(change);
    timer ??= setTimeout(send, GATHER_MS);
  });
  const keepAlive = setInterval(() => {
    for (const listener of listeners) listener.write(': keep-alive\n\n');
  }, KEEP_ALIVE_MS);
  keepAlive.unref();

  app.addHook('preClose', (done) => {
    unsubscribe();
    clearTimeout(timer);
    clearInterval(keepAlive);
    for (const listener of listeners) listener.end();
    done();
  });
  app.get('/stream', (request, reply) => {
    reply.hijack();
    const listener = reply.raw;
    listener.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    listener.write('retry: 1000\n\n');
    listeners.add(listener);
    request.raw.once('close', () => listeners.delete(listener));
  });
}
