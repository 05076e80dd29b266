import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import type { Simulator, WebhookEventSummary } from '@call-webhooks/simulator';
import type { Respond } from '../support/receiver.ts';
import { testResources } from '../support/test-resources.ts';

const open = testResources();
type Row = Record<string, unknown>;

const get = async <Body>(simulator: Simulator, path: string): Promise<Body> =>
  (await (await fetch(`${simulator.url}/_sim${path}`)).json()) as Body;
const post = async <Body>(simulator: Simulator, path: string, body?: unknown) => {
  const response = await fetch(`${simulator.url}/_sim${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? '' : JSON.stringify(body),
  });
  return (await response.json()) as Body;
};

/** Two rules with receivers of their own, and three calls: 1 and 2 fail, the rest is acknowledged. */
async function sixEvents() {
  const simulator = await open.simulator({ maxAttempts: 1 });
  const [good, bad] = [await open.receiver(), await open.receiver(500)];
  good.respond = (_received, response) => void response.end('Kept As Row 9');
  const create = (name: string, url: string) =>
    simulator.rules.create({
      trigger: 'call:started',
      scope: 'workspace',
      name,
      actions: [{ url }],
    });
  const rules = { good: create('good', good.url), bad: create('bad', bad.url) };
  const people = [
    { calledName: 'Ida Holm', calledNumber: '+41001', calledEmail: 'ida@x.example' },
    { calledName: 'Noor Haddad', calledNumber: '+41002', calledEmail: 'noor@y.example' },
    { calledName: null, calledNumber: '+41003', calledEmail: null },
  ];
  const calls = [];
  for (const person of people) {
    calls.push(simulator.calls.start(person));
    await simulator.events.settled();
    simulator.rules.resume(rules.bad._id);
  }
  return { simulator, rules, calls, urls: { good: good.url, bad: bad.url } };
}

describe('a query', () => {
  test('each of its fields leaves out the events that do not match, and an empty one none', async () => {
    const { simulator, rules, calls, urls } = await sixEvents();
    const [first] = simulator.events.list();
    const { headers } = first!.attempts[0]!.request;
    const numbers = async (query: Record<string, string>) => {
      const search = new URLSearchParams(query).toString();
      const shown = await get<WebhookEventSummary[]>(simulator, `/events?${search}`);
      return shown.map(({ number }) => number);
    };
    const all = [1, 2, 3, 4, 5, 6];
    for (const [query, expected] of [
      [{}, all],
      [{ ruleId: rules.good._id }, [1, 3, 5]],
      [{ callId: calls[1]!._id }, [3, 4]],
      [{ eventName: 'call:started' }, all],
      [{ eventName: 'call:completed' }, []],
      [{ state: 'failed' }, [2, 4, 6]],
      [{ url: urls.bad }, [2, 4, 6]],
      [{ url: `${urls.bad}/more` }, []],
      [{ ruleId: rules.good._id, callId: calls[1]!._id }, [3]],
      [{ state: 'failed', ruleId: rules.good._id }, []],
      ...['ruleId', 'callId', 'eventName', 'state', 'url', 'q'].map(
        (name) => [{ [name]: '' }, all] as const,
      ),
      [{ q: '  IDA  ' }, [1, 2]],
      [{ q: '+41002' }, [3, 4]],
      [{ q: 'NOOR@y' }, [3, 4]],
      [{ q: 'kept as row' }, [1, 3, 5]],
      [{ q: calls[2]!._id }, [5, 6]],
      [{ q: headers['X-Service-Signature']! }, [1]],
      [{ q: 'call:started' }, all],
      [{ q: '#4' }, [4]],
      [{ q: '#' }, []],
      [{ q: '#44' }, []],
      [{ q: 'ida', state: 'failed' }, [2]],
      [{ limit: '0' }, []],
      [{ limit: '1' }, [6]],
      [{ limit: '6' }, all],
      [{ limit: '7' }, all],
      [{ limit: '2', state: 'failed' }, [4, 6]],
    ] as const)
      expect([query, await numbers(query as Record<string, string>)]).toEqual([query, expected]);
    for (const limit of ['-1', '1.5', 'all', '']) {
      const answer = await get<Row>(simulator, `/events?limit=${limit}`);
      expect(answer).toMatchObject({ error: { code: 'invalid-input' } });
    }
  });

  test('words are found in each place, although the body has none of them', async () => {
    const simulator = await open.simulator({ extraHeaders: { 'X-Extra': 'In A Header' } });
    const { url } = await open.receiver((_received, response) => {
      response.writeHead(202, { 'x-answer': 'not searched' }).end('In An Answer');
    });
    simulator.rules.create({ trigger: 'call:started', actions: [{ url, payload: {} }] });
    const person = { calledName: 'Ida Holm', calledNumber: '+41001', calledEmail: 'ida@x.example' };
    const call = simulator.calls.start(person);
    simulator.calls.start({ calledName: null, calledNumber: '1', calledEmail: null });
    await simulator.events.settled();
    const [first] = simulator.events.list();
    const { headers } = first!.attempts[0]!.request;
    const both = [1, 2];
    for (const [words, expected] of [
      ['ida holm', [1]],
      ['+41001', [1]],
      ['IDA@X.EXAMPLE', [1]],
      [call._id, [1]],
      [first!._id, [1]],
      [headers['X-Service-Webhook-Id']!, [1]],
      ['#2', [2]],
      ['2', expect.arrayContaining([2])],
      ['call:started', both],
      ['in a header', both],
      ['in an answer', both],
      ['{}', both],
      ['not searched', []],
      ['/hook', []],
    ] as const) {
      const path = `/events?q=${encodeURIComponent(words)}`;
      const found = await get<WebhookEventSummary[]>(simulator, path);
      expect([words, found.map(({ number }) => number)]).toEqual([words, expected]);
    }
  });

  test('the same fields, in the process', async () => {
    const { simulator, rules, calls } = await sixEvents();
    const numbers = (filter: object) => simulator.events.list(filter).map(({ number }) => number);
    expect(numbers({})).toEqual([1, 2, 3, 4, 5, 6]);
    expect(numbers({ ruleId: rules.bad._id })).toEqual([2, 4, 6]);
    expect(numbers({ callId: calls[0]!._id })).toEqual([1, 2]);
    expect(numbers({ state: 'acknowledged' })).toEqual([1, 3, 5]);
    expect(numbers({ eventName: 'call:completed' })).toEqual([]);
    expect(numbers({ state: 'failed', callId: calls[0]!._id, eventName: undefined })).toEqual([2]);
  });

  test('by default, the last hundred calls, events and emails are listed', async () => {
    const simulator = await open.simulator({ maxAttempts: 1 });
    const { url } = await open.receiver(500);
    const trigger = 'call:started';
    for (let rule = 0; rule < 102; rule++)
      simulator.rules.create({ trigger, name: `rule ${rule}`, actions: [{ url }] });
    simulator.calls.start();
    await simulator.events.settled();
    for (let placed = 0; placed < 101; placed++) simulator.calls.start();
    const { calls, events, outbox, counts } = await get<Record<string, Row[]>>(simulator, '/state');
    expect([calls!.length, events!.length, outbox!.length]).toEqual([100, 100, 100]);
    expect(counts).toMatchObject({ calls: 102, mails: 102 });
    expect(calls!.at(-1)).toMatchObject({ _id: simulator.calls.list().at(-1)!._id });
    expect(outbox!.at(-1)).toMatchObject({ _id: simulator.outbox.list().at(-1)!._id });
    expect(await get<Row[]>(simulator, '/calls')).toHaveLength(100);
    expect(await get<Row[]>(simulator, '/outbox')).toHaveLength(102);
    // `#1` is the first event alone, though the numbers of a hundred others begin with it.
    const numbered = async (words: string) =>
      (await get<Row[]>(simulator, `/events?q=${encodeURIComponent(words)}`)).map(
        (one) => one['number'],
      );
    expect([await numbered('#1'), await numbered('#10'), await numbered('#01')]).toEqual([
      [1],
      [10],
      [],
    ]);
  });

  test('an event is named after the person who was called, or else after the number', async () => {
    const { simulator, calls } = await sixEvents();
    const shown = await get<WebhookEventSummary[]>(simulator, '/events');
    const names = shown.map(({ callName }) => callName);
    expect(names).toEqual([
      ...['Ida Holm', 'Ida Holm', 'Noor Haddad', 'Noor Haddad', '+41003', '+41003'],
    ]);
    const [first] = shown;
    const body = JSON.stringify({ eventName: 'mine', callId: 'of nobody' });
    const copy = await post<Row>(simulator, `/events/${first!._id}/resend`, { body });
    expect(copy).toMatchObject({ eventName: 'mine', callId: 'of nobody', byHand: true });
    const last = (await get<WebhookEventSummary[]>(simulator, '/events')).at(-1)!;
    expect(last).toMatchObject({ eventName: 'mine', ruleName: 'good' });
    expect(last).not.toHaveProperty('callName');
    expect(calls).toHaveLength(3);
  });
});

describe('an event that is sent again', () => {
  test.each<[string, string | undefined, object]>([
    ['as it was', undefined, {}],
    ['with an edited body', '{"eventName":"a","callId":"b"}', { eventName: 'a', callId: 'b' }],
    ['with a body that names nothing', '{"x":1}', {}],
    ['with names of other types', '{"eventName":5,"callId":null}', {}],
    ['with a body that is no object', '[1]', {}],
  ])('%s', async (_what, body, named) => {
    const { simulator } = await sixEvents();
    const [original] = simulator.events.list();
    const copy = await post<Row>(simulator, `/events/${original!._id}/resend`, { body });
    const { ruleId, actionId, callId, eventName } = original!;
    expect(copy).toMatchObject({
      ...{ ruleId, actionId, callId, eventName, ...named },
      ...{ body: body ?? original!.body, copyOf: original!._id, copiedBy: 'resend' },
    });
    expect('byHand' in copy).toBe(body !== undefined);
  });

  test('with the same body, it was not edited', async () => {
    const { simulator } = await sixEvents();
    const { _id, body } = simulator.events.list()[0]!;
    const copy = await post<Row>(simulator, `/events/${_id}/resend`, { body });
    expect(copy).not.toHaveProperty('byHand');
  });

  test('all that failed: the ones that match, whose action is still there, each once', async () => {
    const { simulator, rules } = await sixEvents();
    const failed = (query = '') => post<Row>(simulator, `/events/resend-failed${query}`);
    expect(await failed('?q=ida')).toEqual({ resent: 1 });
    expect(await failed(`?ruleId=${rules.good._id}`)).toEqual({ resent: 0 });
    // Whatever state is asked for, only events that failed are sent again.
    expect(await failed('?q=noor&state=waiting')).toEqual({ resent: 1 });
    await simulator.events.settled();
    // The copies have failed too: now they are sent again instead of the originals.
    expect(await failed()).toEqual({ resent: 3 });
    await simulator.events.settled();
    const copies = simulator.events.list().filter(({ copyOf }) => copyOf !== undefined);
    expect(new Set(copies.map(({ copyOf }) => copyOf)).size).toBe(5);
    simulator.rules.removeAction(rules.bad._id, rules.bad.actions[0]!._id);
    expect(await failed()).toEqual({ resent: 0 });
  });
});

test('all that failed is sent again, copies of chaos and what they are copies of', async () => {
  const simulator = await open.simulator({ maxAttempts: 1, chaos: { duplicate: 1 } });
  const { url } = await open.receiver(500);
  const { _id } = simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
  simulator.calls.start();
  await simulator.events.settled();
  simulator.rules.resume(_id);
  await simulator.clock.runUntilIdle();
  expect(simulator.events.list().map(({ state, copiedBy }) => [state, copiedBy])).toEqual([
    ['failed', undefined],
    ['dropped', 'duplicate'],
  ]);
  simulator.chaos.clear();
  expect(await post<Row>(simulator, '/events/resend-failed')).toEqual({ resent: 1 });
});

test('the receiver of an event is the one that its last attempt went to', async () => {
  const simulator = await open.simulator();
  const [first, second] = [await open.receiver(500), await open.receiver(500)];
  const trigger = 'call:started';
  const { _id, actions } = simulator.rules.create({ trigger, actions: [{ url: first.url }] });
  simulator.calls.start();
  await simulator.events.settled();
  const shown = async (url: string) =>
    (await get<WebhookEventSummary[]>(simulator, `/events?url=${url}`)).map((one) => one.url);
  simulator.rules.updateAction(_id, actions[0]!._id, { url: second.url });
  expect([await shown(first.url), await shown(second.url)]).toEqual([[first.url], []]);
  await simulator.clock.next();
  expect([await shown(first.url), await shown(second.url)]).toEqual([[], [second.url]]);
});

describe('an outcome in a response', () => {
  const padded = (length: number) => {
    const short = '{"outcome":"handled"}';
    return `{"outcome":"handled"${' '.repeat(length - short.length)}}`;
  };

  test.each([
    ['{"outcome":"handled"}', 200, 'handled'],
    ['{"outcome" : "handled"}', 200, 'handled'],
    ['{"outcome":"handled"}', 201, undefined],
    ['{"outcome":"handler-failed"}', 500, 'handler-failed'],
    ['{"outcome":"toString"}', 200, undefined],
    [padded(200), 200, 'handled'],
    [padded(201), 200, undefined],
  ])('%p with %d is shown as %p', async (body, status, outcome) => {
    const simulator = await open.simulator({ maxAttempts: 2, chaos: { dropResponse: 1 } });
    const { url } = await open.receiver((_received, response) => {
      response.writeHead(status).end(body);
    });
    simulator.rules.create({ trigger: 'call:started', actions: [{ url }] });
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    const [summary] = await get<WebhookEventSummary[]>(simulator, '/events');
    const { attempts } = await get<WebhookEventSummary>(simulator, `/events/${summary!._id}`);
    for (const shown of [summary!.attempts, attempts])
      // Chaos has dropped the first response, and spares the last.
      expect(shown.map((one) => [one.outcome, one.dropped])).toEqual([
        [outcome, true],
        [outcome, false],
      ]);
  });
});

/** How an attempt may end, and what the list of events and the event itself say of it. */
test.each<[string, Respond, object, object]>([
  [
    'is answered',
    (_received, response) => void response.writeHead(503, { 'x-own': 'yes' }).end('busy'),
    { kind: 'status', status: 503 },
    { headers: { 'x-own': 'yes' }, body: 'busy', truncated: false },
  ],
  [
    'is cut off',
    (_received, response) => void response.destroy(),
    { kind: 'connection-error', code: 'ECONNRESET' },
    {},
  ],
  ['is never answered', () => undefined, { kind: 'timeout' }, {}],
])(
  'an attempt that %s: its response is the same in short and as a whole',
  async (what, respond, short, more) => {
    const simulator = await open.simulator({ maxAttempts: 1, patience: 1 });
    const receiver = await open.receiver(respond);
    simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
    simulator.calls.start();
    await receiver.arrived();
    if (what.includes('never')) await simulator.clock.advance('30s');
    await simulator.events.settled();
    const [summary] = await get<WebhookEventSummary[]>(simulator, '/events');
    expect(summary!.attempts.map(({ response }) => response)).toEqual([short]);
    const whole = await get<WebhookEventSummary>(simulator, `/events/${summary!._id}`);
    expect(whole.attempts).toMatchObject([{ response: { ...short, ...more } }]);
  },
);

test('a listener that does not read is disconnected, and the others are told on', async () => {
  const simulator = await open.simulator();
  const name = 'x'.repeat(2 ** 21);
  const { _id } = simulator.rules.create({ trigger: 'call:started', name });
  const { hostname, port } = new URL(simulator.url);
  const lazy = connect(Number(port), hostname).pause();
  lazy.on('error', () => undefined);
  lazy.write(`GET /_sim/stream HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  await once(lazy, 'connect');
  const reader = (await fetch(`${simulator.url}/_sim/stream`)).body!.getReader();
  let told = 0;
  const nextChange = async () => {
    for (const before = told; told === before;) {
      const { value } = (await reader.read()) as { value?: Uint8Array };
      told +=
        Buffer.from(value ?? [])
          .toString('latin1')
          .split('event: changes').length - 1;
    }
  };
  for (let change = 0; change < 16; change++) {
    if (change % 2) simulator.rules.resume(_id);
    else simulator.rules.pause(_id);
    await nextChange();
  }
  await reader.cancel();
  const closed = once(lazy, 'close', { signal: AbortSignal.timeout(10_000) });
  lazy.resume();
  await closed;
});
