import { describe, expect, it } from '@jest/globals';
import { callDetails, type CallDetails, verify } from '@call-webhooks/core';
import { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';
import {
  callCompleted,
  callRecordingAvailable,
  callStarted,
  createTestClock,
  deliver,
  deliverTwice,
  forged,
  signedRequest,
  TEST_SECRET,
} from '../src/index.ts';

const anId = expect.stringMatching(/^[0-9a-f]{24}$/) as unknown as string;
const CALL = {
  callId: anId,
  fromPhoneNumber: {},
  userId: 'user-1',
  createdAt: Date.UTC(2026, 0, 2, 3, 4, 4, 678),
  toPhoneNumber: '+12025550101',
  recipientEmail: 'ada@example.com',
  recipientName: 'Ada Example',
  startedAt: '2026-01-02T03:04:05.678Z',
};

describe('an event has exactly these fields', () => {
  it('call:started', () => {
    expect(callStarted()).toEqual({ ...CALL, eventName: 'call:started' });
  });

  it('call:completed', () => {
    const endedAt = '2026-01-02T03:05:06.678Z';
    expect(callCompleted()).toEqual({ ...CALL, eventName: 'call:completed', endedAt });
  });

  it('call:recording-available', () => {
    const event = callRecordingAvailable();
    expect(event).toEqual({
      eventName: 'call:recording-available',
      eventId: `${String(event.callId)}:recording-available`,
      callId: anId,
      userId: 'user-1',
      workspaceId: 'workspace-1',
      recordingStartedAt: '2026-01-02T03:04:05.678Z',
      recordingDurationSeconds: 61,
      occurredAt: '2026-01-02T03:06:05.678Z',
      recordingUrl: `https://api.example.com/v1/calls/${String(event.callId)}/recording`,
    });
  });

  const MAKERS = { callStarted, callCompleted, callRecordingAvailable };

  it.each(Object.entries(MAKERS))('%s: each field is replaced, and others are added', (_, make) => {
    const event = make() as Record<string, unknown>;
    for (const name of Object.keys(event).filter((field) => field !== 'eventName')) {
      const changed = make({ [name]: 'mine' }) as Record<string, unknown>;
      expect(Object.keys(changed)).toEqual(Object.keys(event));
      expect(changed[name]).toBe('mine');
      expect(JSON.parse(JSON.stringify(make({ [name]: undefined })))).not.toHaveProperty(name);
    }
    expect(make({ novelty: 1 } as object)).toMatchObject({ novelty: 1 });
  });

  const meanings: Partial<CallDetails> = {
    placedBy: 'user-9',
    createdAt: new Date(1_000),
    calledNumber: '+9',
    calledEmail: 'nine@example.com',
    calledName: 'Nine',
    dialedAt: new Date(2_000),
    endedAt: new Date(3_000),
  };

  it.each(Object.entries(meanings))('callCompleted: %s by its meaning', (meaning, value) => {
    const details = (event: object) => callDetails(event);
    const standard = details(callCompleted());
    const call = { [meaning]: value };
    expect(details(callCompleted({}, { call }))).toEqual({ ...standard, ...call });
    if (meaning !== 'endedAt')
      expect(details(callStarted({}, { call }))).toMatchObject({ ...call, endedAt: undefined });
    const without = callCompleted({}, { call: { [meaning]: undefined } });
    expect(details(JSON.parse(JSON.stringify(without)) as object)).toEqual({
      ...{ ...standard, [meaning]: undefined },
    });
    const named = callCompleted({}, { call, fieldNames: { [meaning]: 'own' } });
    const asSent = value instanceof Date ? value.toISOString() : value;
    expect(named).toHaveProperty('own', meaning === 'createdAt' ? 1_000 : asSent);
    // The service has no such field.
    const absent = callCompleted({}, { call, fieldNames: { [meaning]: undefined } });
    const standardName = DEFAULT_FIELD_NAMES[meaning as keyof CallDetails];
    expect(Object.keys(absent).sort()).toEqual(
      Object.keys(callCompleted())
        .filter((name) => name !== standardName)
        .sort(),
    );
  });
});

describe('a signed request', () => {
  const now = () => 1_900_000_000_999;
  const webhookId = '01234567-89ab-4cde-8f01-23456789abcd';

  it('has the headers and the body of a delivery, and no others', async () => {
    const signed = await signedRequest({ a: 1 }, { now, webhookId });
    expect(signed).toEqual({
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'X-Service-Webhook-Id': webhookId,
        'X-Service-Timestamp': '1900000000',
        'X-Service-Signature': expect.stringMatching(/^v1,/),
      },
      body: '{"a":1}',
      toRequest: expect.any(Function),
    });
    const delivery = { headers: signed.headers, body: new TextEncoder().encode(signed.body) };
    await verify(delivery, { secret: TEST_SECRET, now });
    const request = signed.toRequest();
    expect([request.url, request.method]).toEqual(['http://localhost/hook', 'POST']);
    expect(Object.fromEntries(request.headers)).toEqual(
      Object.fromEntries(new Headers(signed.headers)),
    );
    expect(await request.text()).toBe(signed.body);
  });

  it('follows its options: timestamp, clock, headers and webhook id', async () => {
    const header = async (name: string, options: object) =>
      (await signedRequest({}, options)).headers[name];
    const timestamp = 'X-Service-Timestamp';
    expect(await header(timestamp, { now, timestamp: 5 })).toBe('5');
    expect(await header(timestamp, { now: createTestClock(7_000).now })).toBe('7');
    const current = Number(await header(timestamp, {}));
    expect(Math.abs(current - Date.now() / 1_000)).toBeLessThan(60);
    const headers = { 'content-type': 'text/plain', 'x-own': 'yes' };
    expect((await signedRequest({}, { headers })).headers).toMatchObject(headers);
    const ids = [{}, {}].map((options) => header('X-Service-Webhook-Id', options));
    expect(new Set(await Promise.all(ids)).size).toBe(2);
    expect(await header('X-Own-Webhook-Id', { headerPrefix: 'X-Own', webhookId })).toBe(webhookId);
  });

  /** A target that keeps what it gets. */
  function target() {
    const seen: { url: string; headers: Record<string, string>; body: string }[] = [];
    const fetch = async (request: Request) => {
      const { url, headers } = request;
      seen.push({ url, headers: Object.fromEntries(headers), body: await request.text() });
      return new Response('{"outcome":"handled"}');
    };
    return { fetch, seen };
  }

  it.each([
    [undefined, 'http://localhost/hook'],
    ['/webhooks/calls', 'http://localhost/webhooks/calls'],
  ])('is delivered to the path %p', async (path, url) => {
    const { fetch, seen } = target();
    const options = { path, now, webhookId, headers: { 'x-own': 'yes' } };
    const event = callCompleted();
    await deliver({ fetch }, event, options);
    await forged({ fetch }, event, options);
    await deliverTwice({ fetch }, event, { path, now, headers: { 'x-own': 'yes' } });
    expect(seen.map((one) => [one.url, one.body])).toEqual(
      seen.map(() => [url, JSON.stringify(event)]),
    );
    for (const { headers } of seen) {
      expect(headers).toMatchObject({ 'x-own': 'yes', 'x-service-timestamp': '1900000000' });
      expect(headers['content-type']).toBe('application/json');
    }
    const ids = seen.map(({ headers }) => headers['x-service-webhook-id']);
    expect(ids.slice(0, 2)).toEqual([webhookId, webhookId]);
    expect(new Set(ids).size).toBe(3);
    const accepted = seen.map(async ({ headers, body }) =>
      verify({ headers, body: Buffer.from(body) }, { secret: TEST_SECRET, now }).then(
        () => true,
        () => false,
      ),
    );
    expect(await Promise.all(accepted)).toEqual([true, false, true, true]);
  });

  it('is signed at the time that is given, each time', async () => {
    const { fetch, seen } = target();
    const times = { timestamp: 1_900_000_123, now: () => 0 };
    await deliver({ fetch }, callCompleted(), times);
    await deliverTwice({ fetch }, callCompleted(), times);
    await forged({ fetch }, callCompleted(), { ...times, timestamp: new Date(1_900_000_123_999) });
    expect(seen.map(({ headers }) => headers['x-service-timestamp'])).toEqual(
      Array(4).fill('1900000123'),
    );
  });

  it('is signed anew by each forgery, with a secret that nobody has', async () => {
    const { fetch, seen } = target();
    for (let forgery = 0; forgery < 2; forgery++) await forged({ fetch }, {}, { now, webhookId });
    const signatures = seen.map(({ headers }) => headers['x-service-signature']);
    expect(new Set(signatures).size).toBe(2);
  });
});

describe('what is delivered', () => {
  const answering = (body: string, status = 200) => ({
    fetch: () => new Response(body, { status }),
  });

  it.each([
    ['{"outcome":"handled"}', { outcome: 'handled' }],
    ['{"outcome":5}', {}],
    ['{}', {}],
    ['handled', {}],
    ['', {}],
    ['null', {}],
  ])('%p has the outcome %j', async (body, outcome) => {
    expect(await deliver(answering(body), {})).toEqual({ status: 200, body, ...outcome });
  });

  it('a 404 is a mistake of the test, unless a receiver sent it', async () => {
    await expect(deliver(answering('', 404), {}, { path: '/x' })).rejects.toThrow(
      'deliver: nothing is mounted at POST /x',
    );
    const own = '{"outcome":"handled"}';
    expect(await deliver(answering(own, 404), {})).toMatchObject({ status: 404 });
    expect(await deliver(answering('', 405), {})).toMatchObject({ status: 405 });
  });

  it.each([
    ['deliver', deliver],
    ['deliverTwice', deliverTwice],
    ['forged', forged],
  ])('an error names %s', async (name, send) => {
    await expect(send(undefined as never, {})).rejects.toThrow(`${name}: the target is undefined`);
    await expect(send(answering(''), {}, { path: 'x' })).rejects.toThrow(`${name}: the path must`);
  });
});
