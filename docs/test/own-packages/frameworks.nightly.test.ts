import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { callBody, serveLocally, startSender } from '@call-webhooks/contract-tests';
import { compile } from '@call-webhooks/contract-tests/compile';
import { generateSecret } from '@call-webhooks/core';
import { createWebHandler } from '@call-webhooks/core/web';
import type { Elysia } from 'elysia';
import { H3, toNodeHandler } from 'h3';
import { createApp, createRouter, toNodeListener, type EventHandler } from 'h3v1';
import { receives } from '../receives.ts';
import { FRAMEWORKS, numbered, OBSERVABILITY, writeSamples } from '../samples.ts';

const secret = generateSecret();
const { takesDeliveries, takesRequests } = receives(secret);
const folder = fileURLToPath(new URL('.samples/', import.meta.url));
const samples = writeSamples(`${folder}frameworks`, (document) => document === FRAMEWORKS);
const fileOf = (title: string) => {
  const found = samples.find(({ code }) => code.includes(title));
  if (!found) throw new Error(`There is no sample with ${title}.`);
  return found.file;
};
const run = async <Exports>(title: string) => (await import(fileOf(title))) as Exports;

const before = { ...process.env };
beforeAll(() => {
  process.env['CALL_WEBHOOK_SECRET'] = secret;
  process.env['RECORDING_WEBHOOK_SECRET'] = generateSecret();
  jest.spyOn(console, 'warn').mockImplementation(() => undefined);
});
afterAll(() => {
  jest.restoreAllMocks();
  process.env = before;
});

/** A trailing slash is neither a 404 nor a redirect. */
async function ignoresSlash(at: string): Promise<void> {
  const reply = await startSender(`${at}/`, secret).post(callBody('slash'));
  expect(reply.status).toBe(200);
}

it.each<[string, string]>([
  ['app/routes/hook.ts', 'action'],
  ['app/routes/hook.ts', 'loader'],
  ['src/pages/hook.ts', 'ALL'],
])('%s exports %s, which is called with { request }', async (title, name) => {
  type Handle = (event: { request: Request }) => Promise<Response>;
  const handle = (await run<Record<string, Handle>>(title))[name] as Handle;
  await takesRequests((request) => handle({ request }));
});

it.each(['api/hook.ts', "runtime = 'edge'"])('%s exports POST', async (title) => {
  const { POST } = await run<{ POST: (request: Request) => Promise<Response> }>(title);
  await takesRequests(POST);
});

it('the events of h3 are refused, and the error names what to pass', async () => {
  const hook = createWebHandler({ secret }) as unknown as (event: unknown) => Response;
  const messages: string[] = [];
  const handle = (event: unknown) => {
    try {
      return hook(event);
    } catch (error) {
      messages.push(String(error));
      return 'refused';
    }
  };
  await new H3().all('/hook', handle as never).request('/hook', { method: 'POST' });
  const app = createApp().use('/hook', handle);
  const { origin, close } = await serveLocally(toNodeListener(app));
  await fetch(`${origin}/hook`, { method: 'POST' });
  await close();
  expect(messages).toEqual([
    expect.stringContaining('call it with event.req'),
    expect.stringContaining('call it with toWebRequest(event)'),
  ]);
});

it('Elysia', async () => {
  const { app } = await run<{ app: Elysia }>("from 'elysia'");
  await takesRequests((request) => app.handle(request));
  const slashed = await app.handle(new Request('http://localhost/hook/', { method: 'POST' }));
  expect(slashed.status).toBe(401);
});

it('h3 2', async () => {
  const { app } = await run<{ app: H3 }>('new H3()');
  const { origin, close } = await serveLocally(toNodeHandler(app));
  await takesDeliveries(`${origin}/hook`);
  await ignoresSlash(`${origin}/hook`);
  await close();
});

it('h3 1, of Nuxt and Nitro', async () => {
  const file = fileOf('toWebRequest');
  const ofH3v1 = file.replace(/\.js$/, '-v1.js');
  writeFileSync(ofH3v1, readFileSync(file, 'utf8').replace("'h3'", "'h3v1'"));
  const { default: handler } = (await import(ofH3v1)) as { default: EventHandler };
  const app = createApp().use(createRouter().use('/hook', handler));
  const { origin, close } = await serveLocally(toNodeListener(app));
  await takesDeliveries(`${origin}/hook`);
  await ignoresSlash(`${origin}/hook`);
  await close();
});

it('Google Cloud Functions, whose parser runs first', async () => {
  await run('functions-framework');
  const server = getTestServer('hook').listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`;
  await takesDeliveries(at);
  await ignoresSlash(at);
  server.close();
  await once(server, 'close');
});

it('the others are samples for Bun, Deno and Workers', () => {
  expect(samples.map(({ name }) => name).slice(-3)).toEqual(numbered(FRAMEWORKS, 9, 10, 11));
  expect(samples).toHaveLength(11);
});

it('all have no errors of types, nor has the sample with Sentry', () => {
  const withSentry = writeSamples(`${folder}sentry`, (document) => document === OBSERVABILITY);
  const files = [...samples, withSentry[0]!]
    .filter(({ language }) => language === 'ts')
    .map(({ file }) => file);
  expect(files.length).toBeGreaterThan(5);
  expect([...compile(files)].filter(([, errors]) => errors.length > 0)).toEqual([]);
});
