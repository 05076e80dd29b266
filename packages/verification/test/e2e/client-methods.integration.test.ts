import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  ApiError,
  createClient,
  type Client,
  type ClientOptions,
  type Fetch,
  type RecordingAvailable,
  type StoredSecret,
} from '@call-webhooks/client';
import type { Simulator } from '@call-webhooks/simulator';
import { testResources } from './test-resources.ts';

const open = testResources();
let simulator: Simulator;
let client: Client;

const clientOf = (options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: simulator.url, apiToken: simulator.apiToken, retries: 0, ...options });

beforeEach(async () => {
  simulator = await open.simulator();
  client = clientOf();
});

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of source) found.push(one);
  return found;
}

describe('events', () => {
  beforeEach(() => {
    const { messages } = simulator;
    const to = [{ email: 'ann@example.com', name: 'Ann Lee' }, 'bo@example.org'];
    const offer = messages.send({ subject: 'Your offer', to });
    messages.record(offer._id, { action: 'opened' });
    messages.record(offer._id, { action: 'clicked' });
    messages.record(offer._id, { action: 'downloaded' });
    messages.record(messages.send({ subject: 'Lunch', to: 'cy@example.net' })._id, {
      action: 'replied',
    });
  });

  test('are listed with the fields of their action', async () => {
    const { results, hasNext, next } = await client.events.list();
    expect([hasNext, next]).toEqual([false, undefined]);
    expect(results.map(({ action }) => action).sort()).toEqual(
      ['clicked', 'downloaded', 'opened', 'replied', 'unopened', 'unopened'].sort(),
    );
    for (const event of results) {
      if (event.action === 'opened') expect(typeof event.device.os).toBe('string');
      if (event.action === 'downloaded') expect(typeof event.location.city).toBe('string');
      if (event.action === 'clicked') expect(typeof event.object.title).toBe('string');
    }
  });

  test.each([
    ['nothing', {}, 6],
    ['a text', { text: 'offer' }, 4],
    ['a subject', { subject: 'Lunch' }, 2],
    ['an address', { to: 'bo@example.org' }, 4],
    ['two recipients, as "or"', { to: ['Ann Lee', 'example.net'] }, 6],
    ['a type', { type: 'clicked' as const }, 1],
    ['days', { since: '2026-01-31', until: '2026-01-31' }, 6],
    ['days to come', { since: '2026-02-01' }, 0],
    ['any template', { template: '*' }, 0],
    ['any sequence', { sequence: '*' }, 0],
    ['myself', { from: 'myself', type: 'replied' as const }, 1],
  ])('are searched by %s', async (_, search, count) => {
    expect(await all(client.events.iterate({ search, limit: 2 }))).toHaveLength(count);
  });
});

test('lists calls under the ids that webhooks carry', async () => {
  const placed = Array.from({ length: 3 }, () => simulator.calls.place()._id);
  await simulator.clock.runUntilIdle();
  const page = await client.calls.list({ limit: 2 });
  expect(page.results).toHaveLength(2);
  expect(page.hasNext).toBe(true);
  const calls = await all(client.calls.iterate({ limit: 2 }));
  expect(calls.map(({ _id }) => _id).sort()).toEqual(placed.sort());
});

test('downloads the same recording by call, by event and to a file', async () => {
  simulator.rules.setRecordingWebhook({ url: 'http://127.0.0.1:1/hook' });
  const { _id } = simulator.calls.place({ durationSeconds: 5 });
  await simulator.clock.advance('10s');
  const [sent] = simulator.events.list({ eventName: 'call:recording-available' });
  const event = JSON.parse(sent!.body) as RecordingAvailable;
  expect(event.callId).toBe(_id);

  const byCall = await client.calls.recording(_id);
  expect(byCall).toMatchObject({ contentType: 'audio/wav', contentLength: 80_044 });
  const bytes = Buffer.from(await new Response(byCall.body).arrayBuffer());
  expect(bytes.subarray(0, 4).toString()).toBe('RIFF');
  expect(bytes).toHaveLength(80_044);
  const path = join(await open.folder(), 'call.wav');
  const saved = await (await client.recordings.fromEvent(event)).saveTo(path);
  expect(saved).toEqual({ path, bytes: 80_044 });
  expect((await readFile(path)).equals(bytes)).toBe(true);
});

test('a download whose connection breaks is continued with the rest of the recording', async () => {
  const { _id } = simulator.calls.place({ durationSeconds: 600 }); // 9.6 MB, more than all buffers
  await simulator.clock.runUntilIdle();
  const path = join(await open.folder(), 'call.wav');
  const ranges: (string | undefined)[] = [];
  const breaking: Fetch = async (url, init) => {
    const response = await fetch(url, init);
    ranges.push(init.headers['range']);
    if (ranges.length > 1 || response.body === null) return response;
    let passed = 0;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        passed += piece.byteLength;
        if (passed > 2_000_000) controller.error(new Error('the connection broke'));
        else controller.enqueue(piece);
      },
    });
    return new Response(response.body.pipeThrough(cut), response);
  };
  const options = { fetch: breaking, retries: { limit: 1, baseDelay: 0 } };
  const saved = await (await clientOf(options).calls.recording(_id)).saveTo(path);
  expect(ranges).toEqual([undefined, expect.stringMatching(/^bytes=1\d{6}-$/)]);
  const { body } = await client.calls.recording(_id);
  const whole = Buffer.from(await new Response(body).arrayBuffer());
  expect(saved.bytes).toBe(whole.length);
  expect((await readFile(path)).equals(whole)).toBe(true);
});

test('creates a webhook action and rotates its secret, also into a store', async () => {
  const rule = simulator.rules.create({ trigger: 'call:completed' });
  const url = 'http://127.0.0.1:1/hook';
  const added = await client.rules.addWebhook(rule._id, { url, payload: { call: '{{callId}}' } });
  const [action] = simulator.rules.get(rule._id).actions;
  const actionId = action!._id;
  expect(action).toMatchObject({ url, payload: { call: '{{callId}}' } });
  expect(added.secret).toBe(simulator.secrets.get(actionId)?.current);

  const rotated = await client.rules.rotateSigningSecret(rule._id, actionId);
  expect(rotated.secret).toBe(simulator.secrets.get(actionId)?.current);
  expect(rotated.secret).not.toBe(added.secret);

  let stored: readonly StoredSecret[] = [{ id: 'before', secret: rotated.secret }];
  const store = {
    load: async () => stored,
    save: async (secrets: readonly StoredSecret[]) => void (stored = secrets),
  };
  const { current } = await client.rules.rotateInto(store, { ruleId: rule._id, actionId });
  expect(current.secret).toBe(simulator.secrets.get(actionId)?.current);
  expect(stored.map(({ secret }) => secret)).toEqual([current.secret, rotated.secret]);
});

describe('errors are told apart', () => {
  test.each<[string, (right: Client, wrong: Client) => Promise<unknown>, object]>([
    ['a wrong token', (_, wrong) => wrong.events.list(), { status: 401, code: 'unauthorized' }],
    [
      'a search that is none',
      ({ events }) => events.list({ search: 'since:tomorrow' }),
      { status: 400, code: 'bad-request' },
    ],
    [
      'a call that is none',
      ({ calls }) => calls.recording('none'),
      { status: 404, code: 'not-found' },
    ],
    [
      'a rule that is none',
      ({ rules }) => rules.addWebhook('none', { url: 'http://127.0.0.1:1/hook' }),
      { status: 404, code: 'not-found' },
    ],
    [
      'an action that is none',
      ({ rules }) => rules.rotateSigningSecret('none', 'none'),
      { status: 404, code: 'not-found' },
    ],
  ])('%s', async (_, ask, fields) => {
    const error: unknown = await ask(client, clientOf({ apiToken: 'wrong' })).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ ...fields, requestId: expect.any(String) });
  });
});
