import { createConnection } from 'node:net';
import { once } from 'node:events';
import { ServerResponse } from 'node:http';
import { describe, expect, jest, test } from '@jest/globals';
import { SimulatorError, type Simulator } from '@call-webhooks/simulator';
import { STARTED_AT, testResources } from '../support/test-resources.ts';

const open = testResources();

async function ask({ url, apiToken }: Simulator, method: string, path: string, body?: string) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'x-api-token': apiToken, ...(method !== 'GET' && JSON_BODY) },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const { headers, status } = response;
  return { status, headers, text, json: text === '' ? undefined : (JSON.parse(text) as unknown) };
}
const JSON_BODY = { 'content-type': 'application/json' };
const error = (code: string, message: string, more: object = {}) => ({
  error: { code, message, ...more },
});

describe('a refusal has its status, its code and its message', () => {
  test.each([
    ['GET', '/nothing', undefined, 404, error('not-found', 'No route matches this request.')],
    ['GET', '/_sim/rules/none', undefined, 404, error('not-found', 'No rule has this id.')],
    ['GET', '/_sim/calls/none', undefined, 404, error('not-found', 'No call has this id.')],
    ['GET', '/_sim/events/none', undefined, 404, error('not-found', 'No event has this id.')],
    ['GET', '/_sim/messages/none', undefined, 404, error('not-found', 'No message has this id.')],
    [
      ...(['DELETE', '/_sim/rules/none', undefined, 404] as const),
      error('not-found', 'No rule has this id.'),
    ],
    [
      ...(['GET', '/v1/calls/none/recording', undefined, 404] as const),
      error('not-found', 'No call has this id.'),
    ],
    [
      ...(['GET', '/v1/events?search=a&search=b', undefined, 400] as const),
      error('invalid-input', 'Pass search only once.'),
    ],
    [
      ...(['GET', '/v1/events?search=type:x', undefined, 400] as const),
      error('invalid-search', 'type: needs one of the seven activity event types (at position 5)', {
        position: 5,
      }),
    ],
    [
      ...(['GET', '/v1/calls?limit=01', undefined, 400] as const),
      error('invalid-input', 'limit must be a whole number from 1.'),
    ],
    [
      ...(['GET', '/v1/calls?next=', undefined, 400] as const),
      error('invalid-input', 'Invalid cursor: pass the "next" of a page.'),
    ],
    [
      ...(['POST', '/_sim/recording-webhook', '{"url":"http://1.2.3.4/"}', 400] as const),
      error(
        'external-target',
        '1.2.3.4 is not this machine. To send deliveries there, set allowExternal (on the command line: simulate --allow-external).',
      ),
    ],
  ] as const)('%s %s', async (method, path, body, status, expected) => {
    const { status: got, json } = await ask(await open.simulator(), method, path, body);
    expect([got, json]).toEqual([status, expected]);
  });

  test.each(['{', '{"by":1}}', '{"__proto__":{"by":1}}', 'nonsense'])(
    'a body that is not JSON: %s',
    async (body) => {
      const { status, json } = await ask(
        await open.simulator(),
        'POST',
        '/_sim/clock/advance',
        body,
      );
      expect([status, json]).toMatchObject([400, { error: { code: 'bad-request' } }]);
    },
  );

  test('a body of more than a megabyte', async () => {
    const body = JSON.stringify({ calledName: 'x'.repeat(2 ** 20) });
    const { status, json } = await ask(await open.simulator(), 'POST', '/_sim/calls', body);
    expect([status, json]).toMatchObject([413, { error: { code: 'bad-request' } }]);
  });

  test('an error that nobody expected: it is not shown', async () => {
    const wallClock = () => {
      throw Object.assign(new Error('a secret'), { code: 'not-found' });
    };
    const rateLimit = { requests: 1, every: '1s' };
    const simulator = await open.simulator({ rateLimit, wallClock });
    const { status, json } = await ask(simulator, 'GET', '/v1/calls');
    expect([status, json]).toEqual([
      500,
      error('internal', 'The simulator failed. This is a bug.'),
    ]);
  });

  test('conflicts: a call that has ended, that is going on, or that has a recording', async () => {
    const simulator = await open.simulator();
    const { _id } = simulator.calls.start({ recorded: true });
    const at = (what: string) => ask(simulator, 'POST', `/_sim/calls/${_id}/${what}`, '');
    const noRecording = error('conflict', 'The call is still ongoing, or already has a recording.');
    expect(await at('recording')).toMatchObject({ status: 409, json: noRecording });
    expect(await at('end')).toMatchObject({ status: 200 });
    const ended = error('conflict', 'The call has already ended.');
    expect(await at('end')).toMatchObject({ status: 409, json: ended });
    expect(await at('recording')).toMatchObject({ status: 200 });
    expect(await at('recording')).toMatchObject({ status: 409, json: noRecording });
    // The recording that was planned does not come a second time.
    await simulator.clock.runUntilIdle();
    expect(simulator.calls.get(_id).recording).toHaveProperty('availableAt', STARTED_AT);
  });
  test('an error in the process has the same code, and is a SimulatorError', async () => {
    const { calls } = await open.simulator();
    const failed = (() => {
      try {
        return calls.get('none');
      } catch (caught) {
        return caught;
      }
    })();
    expect(failed).toBeInstanceOf(SimulatorError);
    expect(failed).toMatchObject({ name: 'SimulatorError', code: 'not-found' });
    for (const other of [undefined, null, 'x', {}, new Error('x')])
      expect(other instanceof SimulatorError).toBe(false);
  });
});

describe('what is refused changes nothing', () => {
  const HERE = 'http://127.0.0.1:9/';
  const ELSEWHERE = 'http://1.2.3.4/';
  const secret = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=';

  /** One record of each kind. */
  async function world() {
    const simulator = await open.simulator({ whilePaused: 'hold' });
    const { rules, calls, messages } = simulator;
    const [rule, , recordings] = rules.forwardTo(HERE);
    rules.pause(rule!._id);
    const call = calls.start();
    calls.publishRecording(calls.end(calls.start()._id)._id);
    const message = messages.send({ subject: 'Hi', to: 'a@x.example' });
    messages.record(message._id, { action: 'opened' });
    const [event] = simulator.events.list();
    return { simulator, rule: rule!, recordings: recordings!, call, message, event: event! };
  }

  async function everything(simulator: Simulator) {
    const { messages, clock, chaos, secrets } = simulator;
    await simulator.events.settled();
    const paths = ['/_sim/state', '/_sim/secrets', '/_sim/messages'];
    const shown = await Promise.all(paths.map((path) => ask(simulator, 'GET', path)));
    const bodies = shown.map(({ json }) => json);
    return {
      bodies,
      secrets: secrets.all(),
      activities: [...messages.activities()],
      due: clock.nextDueAt(),
      ...chaos.get(),
    };
  }

  test.each<[string, ...unknown[]]>([
    ['/rules', { trigger: 'call:started', actions: [{ url: HERE }, { url: ELSEWHERE }] }],
    ['/rules', { trigger: 'call:started', ownerId: 'nobody', actions: [{ url: HERE }] }],
    ['/rules', { trigger: 'call:started', actions: [{ url: HERE }, { url: 'x' }] }],
    ['/forward', { url: ELSEWHERE, secret }, { url: HERE, secret: 'mine' }],
    ['/recording-webhook', { url: ELSEWHERE, secret }, { url: ELSEWHERE, signed: false }],
    ['/rules/RULE/actions', { url: ELSEWHERE, secret }, { url: HERE, more: 1 }],
    ['/rules/RECORDINGS/actions', { url: HERE }],
    ['/rules/none/actions', { url: HERE, secret }],
    [
      'PATCH /rules/RULE/actions/ACTION',
      { url: ELSEWHERE, secret },
      { url: ELSEWHERE, signed: false },
      { payload: 1, url: 'x' },
    ],
    ['PATCH /rules/RECORDINGS/actions/TAPES', { payload: {}, secret }],
    ['PATCH /rules/RULE/actions/TAPES', { secret }],
    ['DELETE /rules/RECORDINGS/actions/TAPES', undefined],
    ['DELETE /rules/RULE/actions/TAPES', undefined],
    ['DELETE /rules/none', undefined],
    ['/rules/RULE/actions/TAPES/rotate', undefined],
    ['/rules/none/pause', undefined],
    ['/rules/none/resume', undefined],
    ['/calls', { placedBy: 'nobody' }, { durationSeconds: 86_401 }],
    ['/calls/start', { placedBy: 'nobody' }],
    ['/calls/CALL/recording', undefined],
    ['/messages', { subject: 'Hi', to: [] }, { subject: 'Hi', to: 'a', templateId: 'none' }],
    ['/messages/MESSAGE/activities', { action: 'opened', recipientEmail: 'b@x.example' }],
    ['PATCH /chaos', { replay: 0.5, duplicate: 2 }],
    ['/events/EVENT/resend', { body: '{' }, { more: 1 }],
    ['/events/none/resend', undefined],
    ['/clock/advance', { by: 'soon' }, { by: '-1s' }],
  ])('%s', async (request, ...bodies) => {
    const { simulator, rule, recordings, call, message, event } = await world();
    const [method, path] = request.includes(' ') ? request.split(' ') : ['POST', request];
    const ids = {
      ...{ RULE: rule._id, RECORDINGS: recordings._id, ACTION: rule.actions[0]!._id },
      ...{ TAPES: recordings.actions[0]!._id, CALL: call._id, MESSAGE: message._id },
      EVENT: event._id,
    };
    const of = path!.replace(/[A-Z]+/g, (name) => ids[name as keyof typeof ids]);
    const before = await everything(simulator);
    for (const body of bodies) {
      const text = body === undefined ? '' : JSON.stringify(body);
      const { status } = await ask(simulator, method!, `/_sim${of}`, text);
      expect([body, status >= 400 && status < 500]).toEqual([body, true]);
      expect(await everything(simulator)).toEqual(before);
    }
  });
});

describe('the headers of a response', () => {
  const page = {
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
    'content-type': 'text/html; charset=utf-8',
  };
  const control = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  const json = { 'content-type': 'application/json; charset=utf-8' };

  test.each<[string, Record<string, string>]>([
    ['/', page],
    ['/_sim/state', { ...control, ...json }],
    ['/_sim/secrets', { ...control, ...json }],
    ['/_sim/rules/none', { ...control, ...json }],
    ['/_sim/stream', { ...control, 'content-type': 'text/event-stream' }],
    ['/v1/events', { ...json, 'x-request-id': expect.any(String) as never }],
  ])('of %s', async (path, expected) => {
    const simulator = await open.simulator();
    const { headers, body } = await fetch(simulator.url + path, {
      headers: { 'x-api-token': simulator.apiToken },
    });
    await body?.cancel();
    expect(Object.fromEntries(headers)).toMatchObject(expected);
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  test('the policy of the page, word for word', async () => {
    const { headers } = await fetch((await open.simulator()).url);
    expect(headers.get('content-security-policy')!.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
  });

  test('of a recording, whole and in part', async () => {
    const simulator = await open.simulator();
    const { _id } = simulator.calls.place({ durationSeconds: 2 });
    await simulator.clock.runUntilIdle();
    const download = async (more: Record<string, string>) => {
      const { status, headers, body } = await fetch(`${simulator.url}/v1/calls/${_id}/recording`, {
        headers: { 'x-api-token': simulator.apiToken, ...more },
      });
      await body?.cancel();
      return [status, Object.fromEntries(headers)];
    };
    const always = {
      'content-type': 'audio/wav',
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-transform',
      etag: `"${_id}-2"`,
    };
    const [status, whole] = await download({});
    expect([status, whole]).toMatchObject([200, { ...always, 'content-length': '32044' }]);
    expect(whole).not.toHaveProperty('content-range');
    expect(await download({ range: 'bytes=32043-' })).toMatchObject([
      206,
      { ...always, 'content-length': '1', 'content-range': 'bytes 32043-32043/32044' },
    ]);
    expect(await download({ range: 'bytes=32044-' })).toMatchObject([
      416,
      { ...always, 'content-range': 'bytes */32044' },
    ]);
  });
});

test('a close ends the connections of listeners, and frees the port', async () => {
  const simulator = await open.simulator();
  const { port, hostname } = new URL(simulator.url);
  const socket = createConnection(Number(port), hostname);
  socket.write(`GET /_sim/stream HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  await once(socket, 'data');
  const ended = once(socket.resume(), 'close');
  await Promise.all([simulator.close(), simulator.close()]);
  await ended;
  await simulator.closed;
  expect((await open.simulator({ port: Number(port) })).url).toBe(simulator.url);
});

test('a listener to whom nothing happens gets a comment every 15 s, so that no proxy cuts it off', async () => {
  const intervals = jest.spyOn(globalThis, 'setInterval');
  const simulator = await open.simulator();
  const [every] = intervals.mock.calls.filter(([, ms]) => ms === 15_000);
  intervals.mockRestore();
  const reader = (await fetch(`${simulator.url}/_sim/stream`)).body!.getReader();
  const next = async () => Buffer.from((await reader.read()).value ?? []).toString();
  expect(await next()).toBe('retry: 1000\n\n');
  (every?.[0] as () => void)();
  expect(await next()).toBe(': keep-alive\n\n');
  await simulator.close();
});

test.each([
  [4_194_304, 'is told on'],
  [4_194_305, 'is let go'],
])('a listener with %i bytes that it has not read %s', async (unread, what) => {
  const simulator = await open.simulator();
  const reader = (await fetch(`${simulator.url}/_sim/stream`)).body!.getReader();
  const next = async () => Buffer.from((await reader.read()).value ?? []).toString();
  expect(await next()).toBe('retry: 1000\n\n');
  const length = { configurable: true, get: () => unread };
  Object.defineProperty(ServerResponse.prototype, 'writableLength', length);
  try {
    simulator.rules.create({ trigger: 'call:started' });
    if (what === 'is told on') expect(await next()).toMatch(/^event: changes\ndata: /);
    else await expect(next()).rejects.toThrow('terminated');
  } finally {
    Reflect.deleteProperty(ServerResponse.prototype, 'writableLength');
  }
});
