import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Server, type AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { callBody, startSender } from '@call-webhooks/contract-tests';
import { generateSecret, sign } from '@call-webhooks/core';

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

it.each([1, 2])('the sample %i has a path for each workspace', async (number) => {
  await run(number);
  const outcome = number === 1 ? 'handled' : 'ignored';
  expect(await (await senderTo('/hooks/acme')).post(body)).toEqual({ status: 200, outcome });
  expect(await (await senderTo('/hooks/acme/')).post(callBody('c-2'))).toMatchObject({ outcome });
  expect(await (await senderTo('/hooks/other')).post(body)).toEqual(forged);
});

it('the sample for node:http has a host for each workspace', async () => {
  await run(4);
  const sender = await senderTo('/');
  const post = (host: string) => sender.post(body, { headers: { host } });
  expect(await post('acme.hooks.example.com')).toEqual(handled);
  expect(await post('other.hooks.example.com')).toEqual(forged);
  expect(await post('acme.example.org')).toEqual(forged);
});

it('the sample for Next takes a Request', async () => {
  const { POST } = (await run(3)) as { POST: (request: Request) => Promise<Response> };
  const post = async (path: string) => {
    const headers = await sign({ secret, body });
    const request = new Request(`http://x${path}`, { method: 'POST', body, headers });
    return (await POST(request)).status;
  };
  expect(await post('/hooks/acme')).toBe(200);
  expect(await post('/hooks/other')).toBe(401);
});
