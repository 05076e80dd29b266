import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { collectingLogger } from '@call-webhooks/contract-tests';
import fastify, { type FastifyInstance } from 'fastify';
import { callWebhooks, generateSecret } from '../src/index.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const apps: FastifyInstance[] = [];
beforeEach(
  () => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }),
);
afterEach(async () => {
  jest.useRealTimers();
  agent.destroy();
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

/** An app that takes bodies of 1,000 bytes, and the requests that it got. */
async function serve() {
  const app = fastify();
  apps.push(app);
  const got: { request: IncomingMessage; responded: Promise<unknown> }[] = [];
  app.addHook('onRequest', (request, reply, done) => {
    got.push({ request: request.raw, responded: once(reply.raw, 'finish') });
    done();
  });
  const logger = collectingLogger();
  app.register(callWebhooks({ path: '/hook', secret: generateSecret(), logger, bodyLimit: 1_000 }));
  return { url: `${await app.listen({ port: 0, host: '127.0.0.1' })}/hook`, got };
}

/** The status of the response, which may come before the request has ended. */
async function statusOf(client: ReturnType<typeof request>): Promise<number | undefined> {
  const [response] = (await once(client, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

it('a client that was refused early can finish sending, and use its connection again', async () => {
  const { url, got } = await serve();
  const large = request(url, { method: 'POST', agent });
  large.write('x'.repeat(2_000));
  expect(await statusOf(large)).toBe(413);
  large.end('x'.repeat(1_000_000));
  const next = request(url, { method: 'PUT', agent }).end();
  expect(await statusOf(next)).toBe(405);
  expect(new Set(got.map(({ request: incoming }) => incoming.socket.remotePort)).size).toBe(1);
});

it('a client that goes on sending is cut off 2 s after the response', async () => {
  const { url, got } = await serve();
  const client = request(url, { method: 'PUT', agent }).on('error', () => undefined);
  client.write('x');
  expect(await statusOf(client)).toBe(405);
  expect(got).toHaveLength(1);
  for (const { request: incoming, responded } of got) {
    await responded;
    await jest.advanceTimersByTimeAsync(1_999);
    expect(incoming.destroyed).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(incoming.destroyed).toBe(true);
  }
});
