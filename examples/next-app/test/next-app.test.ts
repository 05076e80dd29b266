import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { generateSecret, sign } from '@call-webhooks/core';
import { contract } from './contract.ts';
import { startApp, type RunningApp } from './running-app.ts';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
}, 240_000);

afterAll(() => app.stop());

const completed = (callId: string) => JSON.stringify({ eventName: 'call:completed', callId });

const recording = {
  eventName: 'call:recording-available',
  eventId: 'c1:recording-available',
  callId: 'c1',
  userId: 'u1',
  workspaceId: 'w1',
  recordingStartedAt: '2026-01-02T03:04:05.678Z',
  recordingDurationSeconds: 42,
  occurredAt: '2026-01-02T03:05:05.678Z',
  recordingUrl: 'https://service.example/v1/calls/c1/recording',
};

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(app.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

async function deliver(path: string, body: string, { webhookId = randomUUID(), secret = '' } = {}) {
  const headers = await sign({ secret: secret || app.secret, body, webhookId });
  const response = await post(path, body, headers);
  return { status: response.status, answer: (await response.json()) as unknown };
}

const routers = [
  { router: 'app', path: '/hook' },
  { router: 'pages', path: '/api/hook' },
  { router: 'edge', path: '/edge/hook' },
];

describe.each(routers)('the $router router', ({ router, path }) => {
  it('handles an event once, however often it is delivered', async () => {
    const callId = randomUUID();
    const body = completed(callId);
    expect(await deliver(path, body)).toEqual({ status: 200, answer: { outcome: 'handled' } });
    expect(await deliver(path, body)).toEqual({ status: 200, answer: { outcome: 'duplicate' } });
    await app.printed(new RegExp(`\\[${router}\\] call ${callId} completed \\(attempt 1\\)`));
    expect(app.output().split(`call ${callId} completed`)).toHaveLength(2);
  });

  it.each([
    { event: { eventName: 'call:started', callId: 'c1' }, line: 'call c1 started' },
    { event: recording, line: 'call c1 has a recording of 42 s' },
  ])('hands $event.eventName to its handler', async ({ event, line }) => {
    expect(await deliver(path, JSON.stringify(event))).toEqual({
      status: 200,
      answer: { outcome: 'handled' },
    });
    await app.printed(new RegExp(`\\[${router}\\] ${line}`));
  });

  it('verifies the bytes as they were signed', async () => {
    const body = ` {"eventName" : "call:completed",\n "callId":"${randomUUID()}", "note":"Zoë 📞"}\n`;
    expect(await deliver(path, body)).toEqual({ status: 200, answer: { outcome: 'handled' } });
  });

  it('refuses a replay of the same webhook id', async () => {
    const webhookId = randomUUID();
    const body = completed(randomUUID());
    expect((await deliver(path, body, { webhookId })).status).toBe(200);
    expect(await deliver(path, body, { webhookId })).toEqual({
      status: 409,
      answer: { outcome: 'replayed' },
    });
  });

  it('refuses forged and unsigned deliveries', async () => {
    const body = completed(randomUUID());
    expect(await deliver(path, body, { secret: generateSecret() })).toEqual({
      status: 401,
      answer: { outcome: 'signature-mismatch' },
    });
    expect((await post(path, body)).status).toBe(401);
  });

  it('runs a failed handler again on the retry', async () => {
    const callId = `flaky-${randomUUID()}`;
    const body = completed(callId);
    expect(await deliver(path, body)).toEqual({
      status: 500,
      answer: { outcome: 'handler-failed' },
    });
    expect(await deliver(path, body)).toEqual({ status: 200, answer: { outcome: 'handled' } });
    await app.printed(new RegExp(`\\[${router}\\] call ${callId} completed \\(attempt 2\\)`));
  });

  it('responds with a trailing slash too', async () => {
    expect(await deliver(`${path}/`, completed(randomUUID()))).toEqual({
      status: 200,
      answer: { outcome: 'handled' },
    });
  });

  it("is not affected by Next's own headers", async () => {
    for (const name of ['RSC', 'Next-Action', 'Next-Router-Prefetch', 'X-Nextjs-Data']) {
      expect((await post(path, '{}', { [name]: '1' })).status).toBe(401);
    }
  });

  it.each(['GET', 'PUT', 'OPTIONS'])('does not redirect a trailing slash: %s', async (method) => {
    // In the App Router, Next itself responds to OPTIONS.
    const expected = router !== 'pages' && method === 'OPTIONS' ? 204 : 405;
    const response = await fetch(`${app.url}${path}/`, { method, redirect: 'manual' });
    expect(response.status).toBe(expected);
  });
});

for (const { router, path } of routers) contract(() => app, router, path);

describe('a dynamic route with tenants, as in docs/tenants.md', () => {
  const sends = (tenant: string, secret: string, callId: string) =>
    deliver(`/hooks/${tenant}`, completed(callId), { secret });
  const handled = { status: 200, answer: { outcome: 'handled' } };
  const mismatch = { status: 401, answer: { outcome: 'signature-mismatch' } };

  it('runs equal calls of two workspaces, and each once', async () => {
    const { acme, globex } = app.secrets;
    const callId = randomUUID();
    expect(await sends('acme', acme, callId)).toEqual(handled);
    expect(await sends('globex', globex, callId)).toEqual(handled);
    expect(await sends('globex/', globex, callId)).toMatchObject({
      answer: { outcome: 'duplicate' },
    });
    await app.printed(
      new RegExp(`\\[tenants\\] call ${callId} completed[^]*call ${callId} completed`),
    );
  });

  it('answers an unknown workspace as it answers a wrong secret', async () => {
    const { acme, globex } = app.secrets;
    expect(await sends('acme', globex, randomUUID())).toEqual(mismatch);
    for (const name of ['initech', 'constructor', 'a%2Fb', 'x'.repeat(200)])
      expect(await sends(name, acme, randomUUID())).toEqual(mismatch);
  });

  it('is the sample of the docs', () => {
    const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
    const [, sample = ''] =
      /^\/\/ app\/hooks\/\[workspace\]\/route.ts\n([^]*?)^```/m.exec(
        read('../../../docs/tenants.md'),
      ) ?? [];
    const lines = sample.split('\n').filter((line) => line !== '');
    const route = read('../app/hooks/[workspace]/route.ts').split('\n');
    expect(lines.length).toBeGreaterThan(4);
    expect(route).toEqual(expect.arrayContaining(lines));
  });
});

it('names the fix if Next has already parsed the body', async () => {
  expect(await deliver('/api/parsed', completed(randomUUID()))).toEqual({
    status: 500,
    answer: { outcome: 'body-already-parsed' },
  });
  await app.printed(
    /body-already-parsed.*export const config = \{ api: \{ bodyParser: false \} \}/,
  );
});

it.each(['/hoook', '/HOOK', '/hook%2F', '/api/hoook', '/x/hook'])(
  'says 503 rather than 404 at %s, as docs/deployment.md advises',
  async (path) => {
    expect((await post(path, '{}')).status).toBe(503);
  },
);
