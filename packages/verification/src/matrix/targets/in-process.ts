import { createServer, type Server, type ServerOptions } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createReceiver, generateSecret, type Receiver } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import { callWebhooks as expressReceiver } from '@call-webhooks/express';
import { callWebhooks as fastifyReceiver } from '@call-webhooks/fastify';
import express from 'express';
import fastify, { type FastifyInstance } from 'fastify';
import { documentedCatchAll } from './catch-all.ts';
import type { Target, TargetFactory, TargetOptions } from '../target.ts';

const PATH = '/hook';
const HOST = '127.0.0.1';

function receiverOptions(secret: string) {
  const lines: string[] = [];
  const keep = (fields: object, message: string) => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const options = {
    secret,
    on: { 'call:completed': () => undefined },
    bodyTimeout: 250,
    logger: { warn: keep, error: keep },
  };
  return { options, lines };
}

interface Mounted {
  port: number;
  receiver: Receiver;
  close: () => Promise<void>;
}

type Mount = (
  options: ReturnType<typeof receiverOptions>['options'],
  http: ServerOptions,
) => Promise<Mounted>;

/** Node checks for late headers at an interval, by default every 30 s. */
const httpOptions = ({ headersTimeoutMs }: TargetOptions): ServerOptions =>
  headersTimeoutMs === undefined
    ? {}
    : { headersTimeout: headersTimeoutMs, connectionsCheckingInterval: 50 };

const kind = (name: string, mount: Mount): TargetFactory => ({
  name,
  async start(wanted: TargetOptions = {}): Promise<Target> {
    const secret = generateSecret();
    const { options, lines } = receiverOptions(secret);
    const { port, receiver, close } = await mount(options, httpOptions(wanted));
    return {
      host: HOST,
      port,
      path: PATH,
      timeoutMs: 3_000,
      secret,
      takeLog: () => lines.splice(0),
      async close() {
        await receiver.close({ graceMs: 0 });
        await close();
      },
    };
  },
});

async function serve(server: Server): Promise<{ port: number; close(): Promise<void> }> {
  server.listen(0, HOST);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const nodeTarget = kind('node:http', async (options, http) => {
  const handler = createNodeHandler(options);
  const server = createServer(http, (request, response) => void handler(request, response));
  return { receiver: handler.receiver, ...(await serve(server)) };
});

export const expressTarget = kind('Express 5', async (options, http) => {
  const handler = expressReceiver(options);
  const app = express().all(PATH, handler);
  return { receiver: handler.receiver, ...(await serve(createServer(http, app))) };
});

/** As the docs recommend: 503 instead of the framework's own responses such as 404. */
export const expressWithCatchAll = kind('Express 5 with a catch-all', async (options, http) => {
  const handler = expressReceiver(options);
  const app = express().all(PATH, handler);
  documentedCatchAll('Express')(app);
  return { receiver: handler.receiver, ...(await serve(createServer(http, app))) };
});

export const fastifyTarget = kind('Fastify 5', mountInFastify);

export const fastifyWithCatchAll = kind('Fastify 5 with a catch-all', (options, http) =>
  mountInFastify(options, http, documentedCatchAll('Fastify')),
);

async function mountInFastify(
  options: Parameters<Mount>[0],
  http: ServerOptions,
  prepare: (app: FastifyInstance) => void = () => undefined,
): Promise<Mounted> {
  const write = (line: string) => {
    const { msg, ...fields } = JSON.parse(line) as { msg: string };
    options.logger.warn(fields, msg);
  };
  const app = fastify({ http, logger: { level: 'warn', stream: { write } } });
  prepare(app);
  const receiver = createReceiver(options);
  app.register(fastifyReceiver({ path: PATH, receiver }));
  await app.listen({ port: 0, host: HOST });
  const { port } = app.server.address() as AddressInfo;
  return { receiver, port, close: () => app.close() };
}
