import { describe, expect, test } from '@jest/globals';
import { createClient } from '@call-webhooks/client';
import { restOf } from '../support/rest.ts';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

describe('the API token', () => {
  test.each([{}, { 'X-API-Token': '' }, { 'X-API-Token': 'another' }])(
    '%j: 401',
    async (headers) => {
      const { url } = await open.simulator();
      const answer = await fetch(`${url}/v1/events`, { headers });
      expect(answer.status).toBe(401);
      expect(await answer.json()).toEqual({
        error: { code: 'unauthorized', message: expect.any(String) },
      });
    },
  );

  test('may be chosen', async () => {
    const { url } = await open.simulator({ apiToken: 'mine' });
    const answer = await fetch(`${url}/v1/calls`, { headers: { 'X-API-Token': 'mine' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-request-id')).toBeTruthy();
  });
});

test('over the limit: 429 with Retry-After, until the window is over', async () => {
  let now = 1_000_000;
  const simulator = await open.simulator({
    rateLimit: { requests: 2, every: '10s' },
    wallClock: () => now,
  });
  const rest = restOf(simulator);
  expect((await rest('/events')).status).toBe(200);
  expect((await rest('/calls')).status).toBe(200);
  now += 2_500;
  const refused = await rest('/events');
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('8');
  expect(await refused.json()).toMatchObject({ error: { code: 'rate-limited' } });
  now += 7_500;
  expect((await rest('/events')).status).toBe(200);
});

describe('errors are JSON', () => {
  test.each([
    ['/nothing', 404, 'not-found'],
    ['/calls/nothing/recording', 404, 'not-found'],
    ['/events?search=since:tomorrow', 400, 'invalid-search'],
    ['/events?next=nonsense', 400, 'invalid-input'],
    ['/events?limit=0', 400, 'invalid-input'],
  ])('GET %s: %i', async (path, status, code) => {
    const answer = await restOf(await open.simulator())(path);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { code, message: expect.any(String) } });
  });

  test('a search that is wrong says where', async () => {
    const answer = await restOf(await open.simulator())('/events?search=a+type:opened+type:opened');
    expect(await answer.json()).toMatchObject({
      error: { code: 'invalid-search', reason: 'duplicate', position: 14 },
    });
  });
});

describe('webhook actions', () => {
  const json = (method: string, body: unknown): RequestInit => ({
    method,
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

  test('are created with a secret, and rotated, through our own client', async () => {
    const simulator = await open.simulator();
    const receiver = await open.receiver();
    const rule = simulator.rules.create({ trigger: 'call:started' });
    const client = createClient({ baseUrl: simulator.url, apiToken: simulator.apiToken });
    const payload = { id: '{{callId}}' };
    const added = await client.rules.addWebhook(rule._id, { url: receiver.url, payload });
    const [action] = simulator.rules.get(rule._id).actions;
    expect(added.secret).toBe(simulator.secrets.get(action!._id)!.current);
    const rotated = await client.rules.rotateSigningSecret(rule._id, action!._id);
    expect(rotated.secret).toBe(simulator.secrets.get(action!._id)!.current);
    expect(rotated.secret).not.toBe(added.secret);
    const { _id } = simulator.calls.start();
    await simulator.deliveries.settled();
    expect(JSON.parse(receiver.received[0]!.body)).toEqual({ id: _id });
  });

  test('and rules are edited and removed', async () => {
    const simulator = await open.simulator();
    const rule = simulator.rules.create({ trigger: 'call:started' });
    const recordings = simulator.rules.setRecordingWebhook({ url: 'http://127.0.0.1:9/hook' });
    const rest = restOf(simulator);
    const url = 'http://127.0.0.1:9/';
    const { _id } = simulator.rules.addAction(rule._id, { url, signed: false });
    const path = `/rules/${rule._id}/actions/${_id}`;
    const patched = await rest(path, json('PATCH', { url: `${url}new`, payload: [1] }));
    expect(await patched.json()).toMatchObject({ url: `${url}new`, payload: [1], signed: false });
    expect((await rest(path, json('PATCH', { url: 'nonsense' }))).status).toBe(400);
    expect((await rest(path, { method: 'DELETE' })).status).toBe(204);
    expect((await rest(path, { method: 'DELETE' })).status).toBe(404);
    expect(simulator.rules.get(rule._id).actions).toEqual([]);
    const recreated = await rest(`/rules/${rule._id}/actions`, json('POST', { url }));
    expect(await recreated.json()).toMatchObject({
      signingSecret: expect.stringMatching(/^whsec_/),
    });

    const renamed = await rest(`/rules/${rule._id}`, json('PATCH', { name: 'To the CRM' }));
    expect(await renamed.json()).toMatchObject({ _id: rule._id, name: 'To the CRM' });
    for (const wrong of [{}, { name: 1 }, { scope: 'all' }, { state: 'paused' }])
      expect((await rest(`/rules/${rule._id}`, json('PATCH', wrong))).status).toBe(400);
    const remove = async (id: string) => (await rest(`/rules/${id}`, { method: 'DELETE' })).status;
    expect(await remove(recordings._id)).toBe(404);
    expect(await remove(rule._id)).toBe(204);
    expect(await remove(rule._id)).toBe(404);
    expect(simulator.rules.list()).toEqual([recordings]);
  });

  test('bad requests are refused', async () => {
    const simulator = await open.simulator();
    const rule = simulator.rules.create({ trigger: 'call:started' });
    const recordings = simulator.rules.setRecordingWebhook({ url: 'http://127.0.0.1:9/hook' });
    const rest = restOf(simulator);
    const post = async (body: unknown, id = rule._id) =>
      (await rest(`/rules/${id}/actions`, json('POST', body))).status;
    expect(await post({ url: 'http://127.0.0.1:9/hook' })).toBe(201);
    expect(await post({ url: 'http://127.0.0.1:9/hook' }, 'nothing')).toBe(404);
    expect(await post({ url: 'http://127.0.0.1:9/hook' }, recordings._id)).toBe(404);
    for (const wrong of [
      {},
      [],
      'nonsense',
      { url: 'nonsense' },
      { url: 'ftp://127.0.0.1/' },
      { url: 'http://user:pass@127.0.0.1/' },
      { url: 'https://elsewhere.example/hook' },
      { type: 'mail', url: 'http://127.0.0.1:9/hook' },
    ])
      expect(await post(wrong)).toBe(400);
    const [action] = simulator.rules.get(rule._id).actions;
    const patch = async (body: unknown, id = action!._id) =>
      (await rest(`/rules/${rule._id}/actions/${id}`, json('PATCH', body))).status;
    expect(await patch({ rotateSigningSecret: false })).toBe(400);
    expect(await patch({})).toBe(400);
    expect(await patch({ rotateSigningSecret: true }, 'nothing')).toBe(404);
    expect(await patch({ rotateSigningSecret: true })).toBe(200);
  });
});
