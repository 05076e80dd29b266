import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { createNodeHandler } from '@call-webhooks/core/node';
import { sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';

// Our receiver in a process of its own, with the handler that docs/conformance.md asks for. With DATABASE,
// it has a store in a file.

const { PORT = '0', DATABASE, CALL_WEBHOOK_SECRET = '' } = process.env;
const attempts = new Map<string, number>();
const effects = new Map<string, number>();

function add(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

const asked = (what: string, key: string) =>
  Number(new RegExp(`\\.${what}-(\\d+)`).exec(key)?.[1] ?? 0);

async function handle(event: object): Promise<void> {
  const { callId, eventName } = event as Record<string, unknown>;
  const key = `${String(callId)}:${String(eventName)}`;
  const attempt = add(attempts, key);
  const slowMs = asked('slow', key);
  if (slowMs > 0) await pause(slowMs, undefined, { ref: false });
  if (attempt <= asked('fail', key)) throw new Error('as asked');
  add(effects, key);
}

const quiet = () => undefined;
const handler = createNodeHandler({
  secret: CALL_WEBHOOK_SECRET.split(' '),
  on: { 'call:started': handle, 'call:completed': handle, 'call:recording-available': handle },
  logger: { warn: quiet, error: quiet },
  ...(DATABASE !== undefined && { store: sqliteStore(new Database(DATABASE)) }),
});
createServer((request, response) => {
  if (request.url === '/effects')
    response.end(JSON.stringify([...effects].map(([key, count]) => ({ key, count }))));
  else void handler(request, response);
}).listen(Number(PORT), '127.0.0.1');
