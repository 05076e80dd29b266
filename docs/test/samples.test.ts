import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { Server, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { generateSecret, type Receiver } from '@call-webhooks/core';
import { callCompleted, deliver } from '@call-webhooks/testing';
import { Logger as NestLogger } from '@nestjs/common';
import type { Hono } from 'hono';
import { receives } from './receives.ts';
import { FRAMEWORKS, RUN_ELSEWHERE, writeSamples, type Sample } from './samples.ts';
import { watchSubscriptions } from './subscriptions.ts';

const secret = generateSecret();
const { takesDeliveries, takesRequests } = receives(secret);
const samples = new Map(
  writeSamples('guides', (document) => document !== FRAMEWORKS).map((sample) => [
    sample.name,
    sample,
  ]),
);
const opened: Server[] = [];
const used: string[] = [];
const printed: unknown[][] = [];
const subscriptions = watchSubscriptions();

beforeAll(() => {
  const secrets = {
    CALL_WEBHOOK_SECRET: secret,
    RECORDING_WEBHOOK_SECRET: generateSecret(),
    CONSOLE_PASSWORD: secret,
    SERVICE_URL: 'https://service.example',
    API_TOKEN: 'token',
  };
  jest.replaceProperty(process, 'env', { ...process.env, ...secrets });
  // The samples listen on port 3000, as a reader would; here each gets a free one.
  const listen = Object.getOwnPropertyDescriptor(Server.prototype, 'listen')?.value as (
    ...args: unknown[]
  ) => Server;
  jest.spyOn(Server.prototype, 'listen').mockImplementation(function (
    this: Server,
    ...[where, ...rest]: unknown[]
  ) {
    opened.push(this);
    const free = typeof where === 'object' ? { ...where, port: 0 } : 0;
    return listen.call(this, free, ...rest);
  } as Server['listen']);
  jest.spyOn(console, 'log').mockImplementation((...line) => void printed.push(line));
  for (const level of ['info', 'warn', 'error'] as const)
    jest.spyOn(console, level).mockImplementation(() => undefined);
  NestLogger.overrideLogger(false); // it does not use the console
});
/** The listeners that samples added. */
const added = (signal: NodeJS.Signals) =>
  process.listeners(signal).filter((listener) => !before[signal]?.includes(listener));
const before: Partial<Record<NodeJS.Signals, unknown[]>> = {
  SIGINT: process.listeners('SIGINT'),
  SIGTERM: process.listeners('SIGTERM'),
};

afterEach(async () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    for (const listener of added(signal)) process.off(signal, listener);
  for (const server of opened.splice(0)) {
    if (!server.listening) continue;
    server.close();
    (server as Server & { closeAllConnections?(): void }).closeAllConnections?.();
    await once(server, 'close');
  }
});
afterAll(() => {
  subscriptions.undo();
  jest.restoreAllMocks();
});

function sample(name: string): Sample {
  used.push(name);
  const found = samples.get(name);
  if (!found)
    throw new Error(`There is no sample ${name}. There are: ${[...samples.keys()].join(', ')}`);
  return found;
}
const run = async (name: string) => (await import(sample(name).file)) as Record<string, unknown>;

/** The URL of the server that a sample started. */
async function url(): Promise<string> {
  const [server] = opened;
  if (!server) throw new Error('The sample listens nowhere.');
  if (!server.listening) await once(server, 'listening');
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`;
}

/** Sends the sample a signal, and waits until its server is closed. */
async function endsOnSignal(): Promise<void> {
  const [server] = opened;
  const closed = once(server as Server, 'close');
  // What ends a process that stays alive must not end that of the tests.
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'setInterval', 'queueMicrotask'] });
  for (const listener of added('SIGTERM')) listener('SIGTERM');
  await closed;
  jest.useRealTimers();
}

describe('programs that listen', () => {
  it.each([
    'README.md#1',
    'packages/nest/README.md#1',
    'packages/opentelemetry/README.md#1',
    'packages/console/README.md#1',
    'docs/start.md#1',
    'docs/stores.md#1', // one at a time
  ])('%s', async (name) => {
    await run(name);
    await takesDeliveries(await url());
  });

  it.each([
    'packages/express/README.md#1',
    'packages/fastify/README.md#1',
    'packages/adapters/README.md#1', // Hono
  ])('%s: is ready, and ends on SIGTERM', async (name) => {
    await run(name);
    await takesDeliveries(await url());
    const response = await fetch(new URL('/ready', await url()));
    expect([response.status, await response.json()]).toMatchObject([200, { ok: true }]);
    await endsOnSignal();
  });

  it.each([
    'packages/core/README.md#1',
    'packages/adapters/README.md#3', // Koa
  ])('%s: ends on SIGTERM', async (name) => {
    await run(name);
    await takesDeliveries(await url());
    await endsOnSignal();
  });
});

describe('handlers that are exported', () => {
  it('packages/next/README.md#1', async () => {
    const { POST } = await run('packages/next/README.md#1');
    await takesRequests(POST as (request: Request) => Promise<Response>);
  });

  it('packages/adapters/README.md#2: Hono in a Worker', async () => {
    const { default: app } = (await run('packages/adapters/README.md#2')) as { default: Hono };
    const env = { CALL_WEBHOOK_SECRET: secret, RECORDING_WEBHOOK_SECRET: generateSecret() };
    await takesRequests(async (request) => app.fetch(request, env));
  });

  it('packages/adapters/README.md#7: Lambda', async () => {
    const { handler } = (await run('packages/adapters/README.md#7')) as {
      handler: (event: object) => Promise<{ statusCode: number; body: string }>;
    };
    await takesRequests(async (request) => {
      const { statusCode, body } = await handler({
        version: '2.0',
        requestContext: { http: { method: request.method } },
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      });
      return new Response(body, { status: statusCode });
    });
  });

  it('packages/next/README.md#2, and its config', async () => {
    const { default: handle, config } = await run('packages/next/README.md#2');
    expect(config).toEqual({ api: { bodyParser: false } });
    createServer(handle as RequestListener).listen(0, '127.0.0.1');
    await takesDeliveries(await url());
  });

  it('packages/next/README.md#3: a config of Next', async () => {
    const { default: config } = await run('packages/next/README.md#3');
    expect(config).toMatchObject({ skipTrailingSlashRedirect: true });
  });
});

describe('programs without a server', () => {
  it('packages/core/README.md#2: signs and verifies', async () => {
    await run('packages/core/README.md#2');
    const [webhookId, timestamp, secretId] = printed.at(-1) ?? [];
    expect([typeof webhookId, secretId]).toEqual([
      'string',
      expect.stringMatching(/^secret-[0-9a-f]{8}$/),
    ]);
    expect(timestamp).toBeInstanceOf(Date);
  });

  it('packages/contract/README.md#1: a file of vectors', async () => {
    await run('packages/contract/README.md#1');
    expect(printed).toContainEqual(['clock/301-seconds-ago', 'Signed 301 s ago.']);
  });

  it('docs/console.md#1: a route that next build imports, without secrets', async () => {
    const { env } = process;
    jest.replaceProperty(process, 'env', { NEXT_PHASE: 'phase-production-build' });
    const { GET } = await run('docs/console.md#1');
    jest.replaceProperty(process, 'env', env);
    expect(GET).toBeInstanceOf(Function);
  });

  it('docs/secrets.md#1: a receiver that reads a file takes a new secret without a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
    const file = join(folder, 'secrets');
    const old = generateSecret();
    writeFileSync(file, `${old} # action a1\n`);
    const { env } = process;
    jest.replaceProperty(process, 'env', { ...env, SECRET_FILE: file });
    const { receiver } = (await run('docs/secrets.md#1')) as { receiver: Receiver };
    const takes = async (by: string) =>
      (await deliver(receiver, callCompleted(), { secret: by })).status;
    expect(await takes(old)).toBe(200);
    const until = new Date(Date.now() + 600_000).toISOString();
    writeFileSync(file, `${secret} # action a1\n${old} # action a1 until ${until}\n`);
    expect([await takes(secret), await takes(old)]).toEqual([200, 200]);
    expect(await takes(generateSecret())).toBe(401);
    jest.replaceProperty(process, 'env', env);
    rmSync(folder, { recursive: true });
  });

  it.each([
    'packages/console/README.md#2',
    'packages/recovery/README.md#1',
    'docs/observability.md#2',
    'docs/secrets.md#2',
  ])('%s', async (name) => {
    await expect(run(name)).resolves.toBeDefined();
  });
});

it('no sample is left out', () => {
  expect([...new Set([...used, ...RUN_ELSEWHERE])].sort()).toEqual([...samples.keys()].sort());
});
