import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { collectingLogger, serveLocally } from '@call-webhooks/contract-tests';
import Koa from 'koa';
import { callWebhooks, generateSecret } from '../../src/koa.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const open: { close(): Promise<void> }[] = [];
beforeEach(
  () => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }),
);
afterEach(async () => {
  jest.useRealTimers();
  agent.destroy();
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** An app that takes bodies of 1,000 bytes, and the requests that it got. */
async function serve() {
  const logger = collectingLogger();
  const hook = callWebhooks({ secret: generateSecret(), logger, bodyLimit: 1_000 });
  const listener = new Koa().use(hook).callback();
  const got: { request: IncomingMessage; responded: Promise<unknown> }[] = [];
  const server = await serveLocally((req, res) => {
    got.push({ request: req, responded: once(res, 'finish') });
    void listener(req, res);
  });
  open.push(server);
  return { url: `${server.origin}/hook`, got };
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
