import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import Fastify from 'fastify';
import { LRUCache } from 'lru-cache';
import { Webhook } from 'standardwebhooks';
import { importPackage } from './checkout.ts';
import { ContenderProcess, cpuMicros, type Answers } from './contender-process.ts';
import { SECRET, signedRequests, type Scheme } from './deliveries.ts';
import type { BenchOptions } from './options.ts';
import type { Result } from './report.ts';
import { runRounds, type Round, type Running, type Start } from './rounds.ts';
import { Sender } from './sender.ts';

type Headers = Record<string, string>;
type OnDelivery = (body: Buffer, headers: Headers) => void;
/** Makes a server that handles one delivery per request. */
type Serve = (root: string) => Promise<Server> | Server;

/** The response of every contender: that of our receiver. (Fastify adds a charset for all of its own.) */
const RESPONSE = '{"outcome":"handled"}';
const RESPONSE_HEADERS = {
  'content-type': 'application/json',
  'content-length': String(RESPONSE.length),
};

let handled = 0;
/** The work of every handler, the same for all contenders. */
function handle(event: unknown): void {
  if (typeof event === 'object' && event !== null) handled += 1;
}

/** Our receiver with one secret, typed handlers and all defaults. */
const RECEIVER_OPTIONS = {
  secret: SECRET,
  on: { 'call:started': handle, 'call:completed': handle, 'call:recording-available': handle },
};

const CONTENDERS: Record<string, Serve> = {
  /** Collects the body and responds. It verifies nothing, and its handler is empty. */
  'node bare': () =>
    createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        handle(Buffer.concat(chunks));
        respond(response);
      });
    }),
  'node + call-webhooks': async (root) => {
    const { createNodeHandler } = await importPackage(root, 'core/node');
    const handler = createNodeHandler(RECEIVER_OPTIONS);
    return createServer((request, response) => void handler(request, response));
  },

  'express raw': () => expressRaw(handle),
  'express + standardwebhooks + lru': () => expressRaw(verifiedOnce()),
  'express + call-webhooks': async (root) => {
    const { callWebhooks } = await importPackage(root, 'express');
    return expressApp(callWebhooks(RECEIVER_OPTIONS));
  },

  'fastify raw': () => fastifyRaw(handle),
  'fastify + standardwebhooks + lru': () => fastifyRaw(verifiedOnce()),
  'fastify + call-webhooks': async (root) => {
    const { callWebhooks } = await importPackage(root, 'fastify');
    const app = Fastify();
    app.register(callWebhooks({ path: '/hook', ...RECEIVER_OPTIONS }));
    await app.ready();
    return app.server;
  },
};

const COMPARE = [
  ['node + call-webhooks', 'node bare'],
  ['express + call-webhooks', 'express raw'],
  ['express + call-webhooks', 'express + standardwebhooks + lru'],
  ['fastify + call-webhooks', 'fastify raw'],
  ['fastify + call-webhooks', 'fastify + standardwebhooks + lru'],
] as const;

function respond(response: ServerResponse): void {
  response.writeHead(200, RESPONSE_HEADERS);
  response.end(RESPONSE);
}

function expressApp(...handlers: RequestHandler[]): Server {
  const app = express();
  app.post('/hook', ...handlers);
  return createServer(app as RequestListener);
}

const expressRaw = (onDelivery: OnDelivery): Server =>
  expressApp(express.raw({ type: 'application/json' }), (request, response) => {
    onDelivery(request.body as Buffer, request.headers as Headers);
    respond(response);
  });

async function fastifyRaw(onDelivery: OnDelivery): Promise<Server> {
  const app = Fastify();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  app.post('/hook', (request, reply) => {
    onDelivery(request.body as Buffer, request.headers as Headers);
    return reply.headers(RESPONSE_HEADERS).send(RESPONSE);
  });
  await app.ready();
  return app.server;
}

/**
 * A library that only verifies, and what a careful user adds to it: one lru-cache for replays and one for
 * duplicates, as large as our memory store is by default.
 */
function verifiedOnce(): OnDelivery {
  const webhook = new Webhook(SECRET);
  const ids = new LRUCache<string, true>({ max: 100_000, ttl: 600_000 });
  const events = new LRUCache<string, true>({ max: 100_000, ttl: 86_400_000 });
  return (body, headers) => {
    const event = webhook.verify(body, headers) as { callId: string; eventName: string };
    const key = `${event.callId}:${event.eventName}`;
    const id = headers['webhook-id'] as string;
    if (ids.has(id)) throw new Error('replayed');
    ids.set(id, true);
    if (events.has(key)) return;
    handle(event);
    events.set(key, true);
  };
}

const isOurs = (name: string) => name.endsWith('call-webhooks');
const schemeOf = (name: string): Scheme =>
  name.includes('standardwebhooks') ? 'standard' : 'service';

export async function measure(options: BenchOptions): Promise<Result> {
  const contenders = Object.fromEntries(
    Object.keys(CONTENDERS).map((name): [string, Start] => [
      name,
      (root) => startServer(name, root, options),
    ]),
  );
  const question = { contenders, compare: COMPARE, isOurs, warmUps: 24 };
  const rounds: Round[] = [];
  // Three times in new processes: one process may be lucky with where its code and data are. Rounds are
  // short, and there are more of them: what else the machine does changes within a second.
  for (let start = 0; start < (options.quick ? 1 : 3); start++) {
    const part = options.quick ? 1 : Math.ceil((options.rounds * 8) / 3);
    rounds.push(...(await runRounds(question, { ...options, rounds: part })));
  }
  return { title: 'one delivery over HTTP', rounds, compare: COMPARE };
}

/** A server in its process, under load from this one. */
async function startServer(
  name: string,
  root: string,
  { connections, quick }: BenchOptions,
): Promise<Running> {
  const scheme = schemeOf(name);
  const requests = quick ? 40 : 1_000;
  const contender = await ContenderProcess.start(import.meta.url, [name, root]);
  const usage = () => contender.ask<{ cpu: number; handled: number }>('usage');
  const port = await contender.ask<number>('port');
  const senders = await Promise.all(connections.map((count) => Sender.open(port, count, RESPONSE)));
  return {
    async turn() {
      const figures: Record<string, number> = {};
      for (const [index, sender] of senders.entries()) {
        const batch = signedRequests(scheme, requests);
        const before = await usage();
        await sender.run(batch);
        const after = await usage();
        if (after.handled - before.handled !== requests)
          throw new Error(`${name} did not handle each of ${String(requests)} deliveries once.`);
        figures[`CPU µs, connections: ${String(connections[index])}`] =
          (after.cpu - before.cpu) / requests;
      }
      return figures;
    },
    async stop() {
      for (const sender of senders) sender.close();
      await contender.stop();
    },
  };
}

export async function serve(name: string, root: string): Promise<Answers> {
  const server = await (CONTENDERS[name] as Serve)(root);
  // Connections are idle during the turns of others.
  server.keepAliveTimeout = 600_000;
  server.headersTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: () => (server.address() as AddressInfo).port,
    usage: () => ({ cpu: cpuMicros(), handled }),
  };
}
