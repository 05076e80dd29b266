import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { describe, afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { callBody, serveLocally, startSender } from '@call-webhooks/contract-tests';
import { exchange } from '@call-webhooks/contract-tests/raw-socket';
import { generateSecret, type Receiver, sign } from '@call-webhooks/core';
import { callWebhooks } from '@call-webhooks/fastify';
import express from 'express';
import fastify from 'fastify';
import { writeSamples } from './samples.ts';

const DOCUMENT = readFileSync(new URL('../deploying.md', import.meta.url), 'utf8');

/** Runs the catch-all route that the docs show for a framework. */
function addCatchAll(framework: string, app: object): void {
  const blocks = [...DOCUMENT.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);
  const code = blocks.find((block) => block.startsWith(`// ${framework}`));
  runInContext(code ?? '', createContext({ app }));
}

const servers: Record<string, () => Promise<{ origin: string; close(): Promise<void> }>> = {
  async Express() {
    const app = express().all('/hook', (_request, response) => void response.send('ok'));
    addCatchAll('Express', app);
    return serveLocally(app);
  },
  async Fastify() {
    const app = fastify();
    addCatchAll('Fastify', app);
    app.all('/hook', () => 'ok');
    return { origin: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
  },
};

it.each(Object.keys(servers))(
  '%s never pauses the rule with the documented route',
  async (name) => {
    const { origin, close } = await servers[name]!();
    for (const path of ['/hoook', '//hook', '/x/../hook', '/hook%2F', '/hook%', '*'])
      for (const method of ['POST', 'GET', 'PROPFIND', 'FOO']) {
        const request = `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
        const { statuses } = await exchange(origin, [Buffer.from(request)]);
        const [status] = statuses;
        expect({ path, method, status }).not.toMatchObject({ status: 404 });
        expect([200, 400, 503]).toContain(status);
      }
    await close();
  },
);

describe('failures', () => {
  const secret = generateSecret();
  const folder = mkdtempSync(join(tmpdir(), 'failures-'));
  const before = { ...process.env };

  beforeAll(() => {
    process.env['CALL_WEBHOOK_SECRET'] = secret;
    process.env['RECORDING_WEBHOOK_SECRET'] = generateSecret();
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
  });
  afterAll(() => {
    jest.restoreAllMocks();
    process.env = before;
    rmSync(folder, { recursive: true });
  });

  it('an event that fails three times is in the dead letters, and the others go on', async () => {
    const [sample] = writeSamples('failures', (document) => document === 'docs/failures.md');
    const file = sample!.file;
    const started = readFileSync(file, 'utf8')
      .replace("'calls.db'", JSON.stringify(join(folder, 'calls.db')))
      .replace(/^const server = (.*)\.listen\(3000\);$/m, 'export const server = $1.listen(0);')
      .replace(/^const hook = /m, 'export const hook = ');
    writeFileSync(file, started);
    const { hook, server } = (await import(file)) as {
      hook: { receiver: Receiver };
      server: Server;
    };
    if (!server.listening) await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const sender = startSender(`http://127.0.0.1:${String(port)}/hook`, secret);

    const asked: string[] = [];
    const { fetch } = globalThis;
    jest.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      if (!url.startsWith('https://crm.example.com')) return fetch(input, init);
      asked.push(url);
      return new Response(null, { status: url.endsWith('/bad') ? 500 : 204 });
    });
    const outcomes: unknown[] = [];
    for (const callId of ['bad', 'bad', 'bad', 'bad', 'good'])
      outcomes.push((await sender.post(callBody(callId, 'call:completed'))).outcome);
    expect(outcomes).toEqual([
      ...['handler-failed', 'handler-failed', 'dead-lettered', 'in-dead-letters', 'handled'],
    ]);
    expect(asked.map((url) => url.split('/').at(-1))).toEqual(['bad', 'bad', 'bad', 'good']);
    // Without an id, its failures could not be counted, and the service would pause the rule.
    expect((await sender.post('{"eventName":"call:completed"}')).outcome).toBe('handled');
    expect(asked).toHaveLength(4);

    server.close();
    await once(server, 'close');
    await hook.receiver.close(); // it writes its outcomes into the folder, which is removed now
  });
});

describe('tenants', () => {
  const secret = generateSecret();
  const body = callBody('c-1');
  const opened: Server[] = [];
  const handled = { status: 200, outcome: 'ignored' };
  const forged = { status: 401, outcome: 'signature-mismatch' };

  beforeAll(() => {
    const listen = Object.getOwnPropertyDescriptor(Server.prototype, 'listen')?.value as (
      ...args: unknown[]
    ) => Server;
    // The samples listen on port 3000, as a reader would; here each gets a free one.
    jest.spyOn(Server.prototype, 'listen').mockImplementation(function (
      this: Server,
      ...[where, ...rest]: unknown[]
    ) {
      opened.push(this);
      const free = typeof where === 'object' ? { ...where, port: 0 } : 0;
      return listen.call(this, free, ...rest);
    } as Server['listen']);
    for (const level of ['log', 'warn', 'error'] as const)
      jest.spyOn(console, level).mockImplementation(() => undefined);
    const secretOf = async (name: string) => (name === 'acme' ? secret : undefined);
    Object.assign(globalThis, { workspaces: { secretOf } });
  });
  afterEach(async () => {
    for (const server of opened.splice(0)) {
      if (!server.listening) continue;
      server.close();
      (server as Server & { closeAllConnections?(): void }).closeAllConnections?.();
      await once(server, 'close');
    }
  });
  afterAll(() => {
    jest.restoreAllMocks();
    rmSync(new URL('tenants', import.meta.url), { recursive: true, force: true });
  });

  /** Runs a program of docs/tenants.md. */
  async function run(number: number): Promise<Record<string, unknown>> {
    const text = readFileSync(new URL('../tenants.md', import.meta.url), 'utf8');
    const code = [...text.matchAll(/^```ts\n([^]*?)^```/gm)].at(number - 1)?.[1] ?? '';
    const file = fileURLToPath(new URL(`tenants/.samples/${String(number)}.ts`, import.meta.url));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code);
    return (await import(file)) as Record<string, unknown>;
  }

  async function senderTo(path: string) {
    const [server] = opened;
    if (!server) throw new Error('The sample listens nowhere.');
    if (!server.listening) await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return startSender(`http://127.0.0.1:${String(port)}${path}`, secret);
  }

  async function hasAPathForEachWorkspace(outcome: string): Promise<void> {
    expect(await (await senderTo('/hooks/acme')).post(body)).toEqual({ status: 200, outcome });
    expect(await (await senderTo('/hooks/acme/')).post(callBody('c-2'))).toMatchObject({ outcome });
    expect(await (await senderTo('/hooks/other')).post(body)).toEqual(forged);
  }

  it('the sample for Express has a path for each workspace', async () => {
    await run(1);
    await hasAPathForEachWorkspace('handled');
  });

  it('in Fastify, the path of the page has one as well', async () => {
    const app = fastify();
    await app.register(
      callWebhooks({
        path: '/hooks/:workspace',
        tenant: ({ path }) => path.split('/')[2],
        secret: async ({ tenant }) => (tenant === 'acme' ? secret : undefined),
      }),
    );
    await app.listen({ port: 0 });
    await hasAPathForEachWorkspace('ignored');
    await app.close();
  });

  it('the sample for node:http has a host for each workspace', async () => {
    await run(3);
    const sender = await senderTo('/');
    const post = (host: string) => sender.post(body, { headers: { host } });
    expect(await post('acme.hooks.example.com')).toEqual(handled);
    expect(await post('other.hooks.example.com')).toEqual(forged);
    expect(await post('acme.example.org')).toEqual(forged);
  });

  it('the sample for Next takes a Request', async () => {
    const { POST } = (await run(2)) as { POST: (request: Request) => Promise<Response> };
    const post = async (path: string) => {
      const headers = await sign({ secret, body });
      const request = new Request(`http://x${path}`, { method: 'POST', body, headers });
      return (await POST(request)).status;
    };
    expect(await post('/hooks/acme')).toBe(200);
    expect(await post('/hooks/other')).toBe(401);
  });
});
