import { createServer } from 'node:http';
// @ts-expect-error there are no types of Workers here
import { httpServerHandler as serverHandler } from 'cloudflare:node';
// @ts-expect-error there are no types of Workers here
import { env, waitUntil as keepAlive } from 'cloudflare:workers';
import { createNodeHandler, type NodeHandler } from '@call-webhooks/core/node';
import { receiverOptions } from './receiver.ts';

const httpServerHandler = serverHandler as (options: { port: number }) => object;
const waitUntil = keepAlive as (work: Promise<unknown>) => void;
const { SETTINGS } = env as { SETTINGS: string };

let handlers: Map<string, NodeHandler> | undefined;

createServer((request, response) => {
  handlers ??= new Map(
    Object.entries(receiverOptions(JSON.parse(SETTINGS) as never)).map(([path, options]) => [
      path,
      createNodeHandler({ ...options, waitUntil }),
    ]),
  );
  const handler = handlers.get(request.url ?? '');
  if (handler) void handler(request, response);
  else response.writeHead(404).end();
}).listen(8080);

export default httpServerHandler({ port: 8080 });
