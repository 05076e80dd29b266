import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient } from '@call-webhooks/client';
import { restOf } from '../support/rest.ts';
import { testResources } from '../support/test-resources.ts';

const open = testResources();
const shared = testResources(afterAll);

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
    ['/events?limit=1000000000', 400, 'invalid-input'],
    ['/events?limit=', 400, 'invalid-input'],
    ['/events?limit=1.5', 400, 'invalid-input'],
    ['/events?limit=1&limit=2', 400, 'invalid-input'],
  ])('GET %s: %i', async (path, status, code) => {
    const answer = await restOf(await open.simulator())(path);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { code, message: expect.any(String) } });
  });

  test('a search that is wrong says where', async () => {
    const answer = await restOf(await open.simulator())('/events?search=a+type:opened+type:opened');
    expect(await answer.json()).toMatchObject({
      error: { code: 'invalid-search', position: 14 },
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
    await simulator.events.settled();
    expect(JSON.parse(receiver.received[0]!.body)).toEqual({ id: _id });
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
    expect(await patch({ url: 'http://127.0.0.1:9/' })).toBe(400);
    expect(await patch({ rotateSigningSecret: true }, 'nothing')).toBe(404);
    expect(await patch({ rotateSigningSecret: true })).toBe(200);
  });
});

async function recorded(resources = open) {
  const simulator = await resources.simulator();
  const call = simulator.calls.place({ durationSeconds: 3 });
  await simulator.clock.runUntilIdle();
  const rest = restOf(simulator);
  const download = (headers: Record<string, string> = {}, method = 'GET') =>
    rest(`/calls/${call._id}/recording`, { headers, method });
  const whole = async () => Buffer.from(await (await download()).arrayBuffer());
  return { simulator, call, rest, download, whole };
}

describe('a recording', () => {
  let one: Awaited<ReturnType<typeof recorded>>;
  beforeAll(async () => {
    one = await recorded(shared);
  });

  test('is a WAV file of the right length, with something to hear', async () => {
    const { download } = one;
    const answer = await download();
    expect(answer.headers.get('content-type')).toBe('audio/wav');
    const wav = Buffer.from(await answer.arrayBuffer());
    expect(Number(answer.headers.get('content-length'))).toBe(wav.length);
    const text = (at: number) => wav.toString('latin1', at, at + 4);
    expect([text(0), text(8), text(12), text(36)]).toEqual(['RIFF', 'WAVE', 'fmt ', 'data']);
    expect(wav.readUInt32LE(4)).toBe(wav.length - 8);
    const [format, channels] = [wav.readUInt16LE(20), wav.readUInt16LE(22)];
    const [rate, bytesPerSecond] = [wav.readUInt32LE(24), wav.readUInt32LE(28)];
    const [frame, bits] = [wav.readUInt16LE(32), wav.readUInt16LE(34)];
    expect({ format, channels, rate, bits }).toEqual({
      format: 1,
      channels: 1,
      rate: 8_000,
      bits: 16,
    });
    expect([bytesPerSecond, frame]).toEqual([rate * frame, (channels * bits) / 8]);
    expect(wav.readUInt32LE(40)).toBe(3 * bytesPerSecond);
    expect(wav.length).toBe(44 + 3 * bytesPerSecond);
    const samples = new Int16Array(wav.buffer, wav.byteOffset + 44, 3 * rate);
    const loudest = Math.max(...samples.map(Math.abs));
    expect(loudest).toBeGreaterThan(5_000);
    expect(loudest).toBeLessThan(32_767);
    // Neither a click between two samples, nor noise: its highest tone has less than 1,000 Hz.
    const steepest = (loudest * 2 * Math.PI * 1_000) / rate;
    const steps = samples.slice(1).map((sample, at) => Math.abs(sample - samples[at]!));
    expect(Math.max(...steps)).toBeLessThan(steepest);
  });

  test('is the same every time, and another for another call', async () => {
    const { simulator, whole } = one;
    const first = await whole();
    expect(first.equals(await whole())).toBe(true);
    const others = Array.from({ length: 6 }, () => simulator.calls.place({ durationSeconds: 3 }));
    await simulator.clock.runUntilIdle();
    const rest = restOf(simulator);
    const bodies = await Promise.all(
      others.map(async ({ _id }) =>
        Buffer.from(await (await rest(`/calls/${_id}/recording`)).arrayBuffer()),
      ),
    );
    expect(bodies.some((body) => !body.equals(first))).toBe(true);
  });

  test.each([
    ['bytes=0-', 0],
    ['bytes=40-', 40],
    ['bytes=44-', 44],
    ['bytes=16043-', 16_043],
    ['bytes=48043-', 48_043],
  ])('%s gives the rest', async (range, start) => {
    const { download, whole } = one;
    const all = await whole();
    const answer = await download({ range });
    const part = Buffer.from(await answer.arrayBuffer());
    expect(answer.status).toBe(206);
    expect(part.equals(all.subarray(start))).toBe(true);
    expect(answer.headers.get('content-range')).toBe(`bytes ${String(start)}-48043/48044`);
  });

  test('a range beyond the end: 416', async () => {
    const answer = await one.download({ range: 'bytes=48044-' });
    expect(answer.status).toBe(416);
    expect(answer.headers.get('content-range')).toBe('bytes */48044');
  });

  test.each(['bytes=5-9', 'bytes=-100', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=-'])(
    '%s: the whole comes',
    async (range) => {
      expect((await one.download({ range })).status).toBe(200);
    },
  );

  test('has an ETag, for If-Range', async () => {
    const { download } = one;
    const etag = (await download()).headers.get('etag')!;
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect((await download({ range: 'bytes=5-', 'if-range': etag })).status).toBe(206);
    expect((await download({ range: 'bytes=5-', 'if-range': '"old"' })).status).toBe(200);
  });

  test('is there only when it was announced', async () => {
    const { simulator, rest, download } = one;
    const { _id } = simulator.calls.start();
    expect((await rest(`/calls/${_id}/recording`)).status).toBe(404);
    const head = await download({}, 'HEAD');
    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe('48044');
  });
});

test('GET /v1/calls gives the records, the newest first, in pages', async () => {
  const { simulator, call, rest } = await recorded();
  await simulator.clock.advance('1m');
  const newer = simulator.calls.start();
  interface CallsPage {
    results: Record<string, unknown>[];
    next: string | null;
    hasNext: boolean;
  }
  const page = async (path: string) => (await (await rest(path)).json()) as CallsPage;
  const first = await page('/calls?limit=1');
  expect(first).toMatchObject({ results: [{ _id: newer._id, recording: null }], hasNext: true });
  const second = await page(`/calls?limit=1&next=${String(first.next)}`);
  expect(second).toMatchObject({ hasNext: false, next: null });
  expect(second.results[0]).toMatchObject({
    _id: call._id,
    toPhoneNumber: call.calledNumber,
    endedAt: '2026-01-31T12:00:03.000Z',
    recording: { durationSeconds: 3 },
  });
  expect(second.results[0]).not.toHaveProperty('eventName');
});
