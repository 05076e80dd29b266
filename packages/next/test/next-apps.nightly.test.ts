import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callBody, recordingBody, startSender, waitFor } from '@call-webhooks/contract-tests';
import { generateSecret, sign } from '@call-webhooks/core';
import { buildApp, installNext, startApp, type RunningApp } from './built-app.ts';
import { contract } from './contract.ts';

/** The exit code of Next after a shutdown in order. */
const ENDED_BY_SIGTERM = 143;

const APP = fileURLToPath(new URL('app', import.meta.url));
const secret = generateSecret();
const workspaces = { acme: generateSecret(), globex: generateSecret() };

let app: RunningApp;

beforeAll(async () => {
  installNext();
  buildApp(APP, { CALL_WEBHOOK_SECRET: undefined });
  const WORKSPACE_SECRETS = JSON.stringify(workspaces);
  app = await startApp(APP, { CALL_WEBHOOK_SECRET: secret, WORKSPACE_SECRETS });
}, 600_000);

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

async function deliver(
  path: string,
  body: string,
  { webhookId = randomUUID(), secret: by = secret } = {},
) {
  const headers = await sign({ secret: by, body, webhookId });
  const response = await post(path, body, headers);
  return { status: response.status, answer: await response.json() };
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

for (const { router, path } of routers) contract(() => app, secret, router, path);

describe('a dynamic route with tenants, as in docs/tenants.md', () => {
  const sends = (tenant: string, secret: string, callId: string) =>
    deliver(`/hooks/${tenant}`, completed(callId), { secret });
  const handled = { status: 200, answer: { outcome: 'handled' } };
  const mismatch = { status: 401, answer: { outcome: 'signature-mismatch' } };

  it('runs equal calls of two workspaces, and each once', async () => {
    const { acme, globex } = workspaces;
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
    const { acme, globex } = workspaces;
    expect(await sends('acme', globex, randomUUID())).toEqual(mismatch);
    for (const name of ['initech', 'constructor', 'a%2Fb', 'x'.repeat(200)])
      expect(await sends(name, acme, randomUUID())).toEqual(mismatch);
  });

  it('is the sample of the docs', () => {
    const [, sample = ''] =
      /^\/\/ app\/hooks\/\[workspace\]\/route.ts\n([^]*?)^```/m.exec(
        readFileSync(new URL('../../../docs/tenants.md', import.meta.url), 'utf8'),
      ) ?? [];
    const lines = sample.split('\n').filter((line) => line !== '');
    const route = readFileSync(join(APP, 'app/hooks/[workspace]/route.ts'), 'utf8').split('\n');
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

it('keeps the function alive until a late handler has ended, and no longer', async () => {
  const kept = async () => (await fetch(`${app.url}/late`)).json();
  const callId = `slow-${randomUUID()}`;
  expect(await deliver('/late', completed(callId))).toEqual({
    status: 503,
    answer: { outcome: 'deadline' },
  });
  expect(await kept()).toBe(1);
  await waitFor(async () => (await kept()) === 0);
  expect(app.output()).toContain(`[late] call ${callId} completed`);
  expect((await deliver('/late', completed(randomUUID()))).status).toBe(200);
  expect(await kept()).toBe(0);
});

it('ends on SIGTERM, after a running handler', async () => {
  const slow = deliver('/hook', completed(`slow-${randomUUID()}`));
  await new Promise((resolve) => setTimeout(resolve, 500)); // until it is there
  expect(await app.stop()).toBe(ENDED_BY_SIGTERM);
  expect(await slow).toEqual({ status: 200, answer: { outcome: 'handled' } });
});

describe('examples/next', () => {
  const folder = fileURLToPath(new URL('../../../examples/next', import.meta.url));
  const calls = generateSecret();
  const recordings = generateSecret();
  const data = mkdtempSync(join(tmpdir(), 'next-example-'));
  const SQLITE_FILE = join(data, 'calls.db');
  const env = {
    SQLITE_FILE,
    CALL_WEBHOOK_SECRET: `${generateSecret()},${calls}`,
    RECORDING_WEBHOOK_SECRET: recordings,
  };
  afterAll(() => rmSync(data, { recursive: true }));

  it('is built without a secret, a server or a database file', () => {
    const missing = { CALL_WEBHOOK_SECRET: undefined, RECORDING_WEBHOOK_SECRET: undefined };
    buildApp(folder, { SQLITE_FILE, ...missing });
    expect(existsSync(SQLITE_FILE)).toBe(false);
  });

  it('npm test', async () => {
    const NODE_OPTIONS = '--conditions=@call-webhooks/source';
    const options = { cwd: folder, env: { ...process.env, NODE_OPTIONS } };
    await promisify(execFile)('npm', ['test', '--silent'], options);
  });

  it('remembers events over a restart, and ends by itself', async () => {
    const deliveries = [
      [callBody('c1'), calls],
      [recordingBody('c1'), recordings],
    ] as const;
    for (const outcome of ['handled', 'duplicate']) {
      const example = await startApp(folder, env);
      for (const [body, by] of deliveries)
        expect(await startSender(`${example.url}/hook`, by).post(body)).toEqual({
          status: 200,
          outcome,
        });
      expect(await example.stop()).toBe(ENDED_BY_SIGTERM);
    }
  });

  it('says 503 on other paths, and whether it is ready', async () => {
    const example = await startApp(folder, env);
    const statusOf = async (path: string, method = 'GET') =>
      (await fetch(example.url + path, { method })).status;
    expect([await statusOf('/health'), await statusOf('/ready')]).toEqual([200, 200]);
    for (const path of ['/', '/hoook', '/HOOK', '/hook%2F', '/hook/x'])
      expect({ path, status: await statusOf(path, 'POST') }).toEqual({ path, status: 503 });
    await example.stop();
    const keyless = await startApp(folder, { ...env, RECORDING_WEBHOOK_SECRET: '' });
    const ready = await fetch(`${keyless.url}/ready`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ ok: false, secrets: 'down' });
    await keyless.stop();
  });
});
