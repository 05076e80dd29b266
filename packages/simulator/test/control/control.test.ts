import { get, type IncomingMessage, request, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { waitFor } from '@call-webhooks/contract-tests';
import { describe, expect, jest, test } from '@jest/globals';
import type { Simulator } from '@call-webhooks/simulator';
import { testResources } from '../support/test-resources.ts';

describe('the control API', () => {
  const open = testResources();

  /** Asks the control API; gives the status and the JSON. */
  const controlOf =
    ({ url }: Simulator) =>
    async (method: string, path: string, body?: unknown): Promise<[number, never]> => {
      const answer = await fetch(`${url}/_sim${path}`, {
        method,
        ...(method !== 'GET' && {
          headers: { 'content-type': 'application/json' },
          body: body === undefined ? '' : JSON.stringify(body),
        }),
      });
      return [answer.status, (await answer.json()) as never];
    };

  async function controlled() {
    const simulator = await open.simulator({ maxAttempts: 2 });
    const receiver = await open.receiver();
    return { simulator, receiver, ask: controlOf(simulator) };
  }

  describe('everything that a simulator can do, over HTTP', () => {
    test('rules: create, show, pause, resume, rotate', async () => {
      const { simulator, receiver, ask } = await controlled();
      const actions = [{ url: receiver.url, payload: { id: '{{callId}}' } }];
      const [status, rule] = await ask('POST', '/rules', {
        trigger: 'call:started',
        scope: 'workspace',
        name: 'Mine',
        actions,
      });
      const { _id } = rule as { _id: string };
      expect(status).toBe(201);
      expect(rule).toMatchObject({ name: 'Mine', scope: 'workspace', actions });
      expect(await ask('GET', `/rules/${_id}`)).toEqual([200, rule]);
      expect(await ask('GET', '/rules')).toEqual([200, [rule]]);
      expect((await ask('POST', `/rules/${_id}/pause`))[1]).toMatchObject({ state: 'paused' });
      expect((await ask('POST', `/rules/${_id}/resume`))[1]).toEqual(rule);
      const [, action] = await ask('POST', `/rules/${_id}/actions`, { url: receiver.url });
      const actionId = (action as { _id: string })._id;
      const before = simulator.secrets.get(actionId)!.current;
      const [, rotated] = await ask('POST', `/rules/${_id}/actions/${actionId}/rotate`);
      const [, secrets] = await ask('GET', '/secrets');
      expect(secrets).toMatchObject({
        [actionId]: {
          current: (rotated as { signingSecret: string }).signingSecret,
          previous: before,
        },
      });
      expect(JSON.stringify(await ask('GET', '/state'))).not.toContain('whsec_');
      expect((await ask('POST', '/recording-webhook', { url: receiver.url }))[0]).toBe(201);
      expect((await ask('POST', '/forward', { url: receiver.url }))[1]).toHaveLength(3);
    });

    test('calls, events, the clock, chaos and the outbox', async () => {
      const { simulator, receiver, ask } = await controlled();
      await ask('POST', '/forward', { url: receiver.url });
      const [status, call] = await ask('POST', '/calls', { durationSeconds: 5, calledName: null });
      expect([status, call]).toMatchObject([201, { plannedMs: 5_000 }]);
      expect((await ask('POST', '/clock/next'))[1]).toMatchObject({ mode: 'manual', inFlight: 0 });
      expect((await ask('POST', '/clock/advance', { by: '1m' }))[1]).toMatchObject({
        nextDueAt: null,
      });
      const [, shown] = await ask('GET', '/events?state=acknowledged');
      expect(shown).toHaveLength(3);
      const [first] = shown as unknown as { _id: string }[];
      const [, whole] = await ask('GET', `/events/${first!._id}`);
      expect(whole).toMatchObject(simulator.events.get(first!._id));
      expect(whole).toMatchObject({ url: receiver.url, ruleName: 'A teammate starts a call' });
      expect((await ask('POST', `/events/${first!._id}/resend`))[1]).toMatchObject({
        copyOf: first!._id,
      });

      const [, started] = await ask('POST', '/calls/start', { recorded: false });
      const { _id } = started as { _id: string };
      expect((await ask('POST', `/calls/${_id}/end`))[1]).toMatchObject({ state: 'ended' });
      expect((await ask('POST', `/calls/${_id}/recording`))[1]).toHaveProperty('recording');
      expect((await ask('GET', `/calls/${_id}`))[0]).toBe(200);
      expect((await ask('GET', '/calls'))[1]).toHaveLength(2);

      expect((await ask('PATCH', '/chaos', { replay: 0.5 }))[1]).toMatchObject({ replay: 0.5 });
      expect((await ask('GET', '/chaos'))[1]).toEqual(simulator.chaos.get());
      expect((await ask('POST', '/chaos/clear'))[1]).toMatchObject({ replay: 0 });

      receiver.respond = (_received, response) => void response.writeHead(404).end();
      await ask('POST', '/calls/start', {});
      await ask('POST', '/clock/run-until-idle');
      expect((await ask('GET', '/outbox'))[1]).toHaveLength(1);
      expect((await ask('GET', '/clock'))[1]).toMatchObject({ now: simulator.clock.now() });

      await ask('POST', '/reset');
      expect((await ask('GET', '/state'))[1]).toMatchObject({
        rules: [],
        calls: [],
        events: [],
        outbox: [],
        counts: { calls: 0 },
      });
    });

    test('messages', async () => {
      const { ask } = await controlled();
      const [, message] = await ask('POST', '/messages', { subject: 'Hi', to: ['a@x.example'] });
      const { _id } = message as { _id: string };
      const [status] = await ask('POST', `/messages/${_id}/activities`, { action: 'opened' });
      expect(status).toBe(201);
      expect((await ask('GET', '/messages'))[1]).toEqual([message]);
      const [, other] = await ask('POST', '/messages', { subject: 'Ho', to: 'b@x.example' });
      const otherId = (other as { _id: string })._id;
      await ask('POST', `/messages/${otherId}/activities`, { action: 'replied' });
      for (const [one, action, recipientEmail] of [
        [message, 'opened', 'a@x.example'],
        [other, 'replied', 'b@x.example'],
      ] as const) {
        const [, shown] = await ask('GET', `/messages/${(one as { _id: string })._id}`);
        const { activities, ...rest } = shown as { activities: unknown };
        expect(rest).toEqual(one);
        expect(activities).toMatchObject([{ action, recipientEmail }]);
      }
      expect((await ask('GET', '/messages'))[1]).toEqual([message, other]);
    });

    test('the API token, waiting for receivers, and the end', async () => {
      const { simulator, receiver, ask } = await controlled();
      expect((await ask('GET', '/api-token'))[1]).toEqual({ apiToken: simulator.apiToken });
      receiver.respond = (_received, response) => void setTimeout(() => response.end(), 30);
      simulator.rules.forwardTo(receiver.url);
      simulator.calls.start();
      const landed = await ask('POST', '/events/settled');
      expect(landed).toEqual([200, { counts: { acknowledged: 1 } }]);
      expect((await ask('POST', '/close'))[0]).toBe(202);
      await simulator.closed;
      await expect(ask('GET', '/state')).rejects.toThrow('fetch failed');
    });

    test.each([
      ['GET', '/rules/nothing', undefined, 404],
      ['POST', '/rules', { trigger: 'call:recording-available' }, 400],
      ['POST', '/rules', { trigger: 'call:started', scope: 'world' }, 400],
      ['POST', '/rules', { trigger: 'call:started', nonsense: 1 }, 400],
      ['POST', '/rules', { trigger: 'call:started', actions: [{ url: 1 }] }, 400],
      ['POST', '/rules', { trigger: 'call:started', actions: [{ url: 'http://x.example/' }] }, 400],
      ['POST', '/forward', { url: 'http://127.0.0.1:9/', secret: 'whsec_short' }, 400],
      ['POST', '/calls', { durationSeconds: -1 }, 400],
      ['POST', '/calls', [], 400],
      ['POST', '/calls/start', { durationSeconds: 5 }, 400],
      ['POST', '/recording-webhook', { url: 'http://127.0.0.1:9/', payload: {} }, 400],
      ['POST', '/calls/nothing/end', undefined, 404],
      ['POST', '/clock/advance', {}, 400],
      ['POST', '/clock/advance', { by: 'soon' }, 400],
      ['PATCH', '/chaos', { replay: 2 }, 400],
      ['PATCH', '/chaos', { earthquake: 1 }, 400],
      ['GET', '/events?limit=all', undefined, 400],
      ['GET', '/nothing', undefined, 404],
    ])('%s %s %j is refused', async (method, path, body, status) => {
      const { ask } = await controlled();
      const [got, answer] = await ask(method, path, body);
      expect([got, answer]).toMatchObject([status, { error: { code: expect.any(String) } }]);
    });

    test.each([
      ['/rules', { trigger: 'call:ended' }, 'trigger must be "call:started" or "call:completed"'],
      ['/rules', {}, 'trigger must be "call:started" or'],
      [
        '/rules',
        { trigger: 'call:started', actions: [{ url: 'http://127.0.0.1:9/', signed: 'no' }] },
        'actions.0.signed must be true or false.',
      ],
      ['/rules', { trigger: 'call:started', scope: 1 }, 'scope must be "user" or "workspace".'],
      ['/forward', {}, 'url must be an http or https URL without user name and password.'],
      [
        '/forward',
        { url: 'http://127.0.0.1:9/', secret: 'whsec_short' },
        'secret must be a signing secret: "whsec_" followed by',
      ],
      ['/calls', { recorded: 1 }, 'recorded must be true or false.'],
      ['/calls', { fromPhoneNumber: [] }, 'fromPhoneNumber must be an object.'],
      ['/calls', { durationSeconds: '5' }, 'durationSeconds must be a number from 0 to 86400.'],
      ['/calls', { colour: 1 }, 'There is no field "colour". The fields are: placedBy, '],
      ['/calls', 'a text', 'The input must be an object.'],
      ['/messages', { subject: 'Hi', to: 5 }, 'to must be an email address'],
      ['/clock/advance', {}, 'by must be a duration: milliseconds, or a string such as "30s"'],
    ])('POST %s %j is answered with what is wrong', async (path, body, message) => {
      const { ask } = await controlled();
      const [, answer] = await ask('POST', path, body);
      expect((answer as { error: { message: string } }).error.message).toContain(message);
    });
  });

  test('the guard stands before it all', async () => {
    const { simulator } = await controlled();
    const status = (path: string, method: string, headers: Record<string, string>) =>
      new Promise((resolve, reject) => {
        request(`${simulator.url}${path}`, { method, headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });
    expect(await status('/_sim/state', 'GET', { host: 'evil.example' })).toBe(403);
    expect(await status('/v1/events', 'GET', { host: 'evil.example' })).toBe(403);
    expect(await status('/_sim/state', 'GET', { origin: 'http://evil.example' })).toBe(403);
    expect(await status('/_sim/reset', 'POST', {})).toBe(415);
    expect(await status('/_sim/reset', 'POST', { 'content-type': 'text/plain' })).toBe(415);
    expect(await status('/_sim/reset', 'POST', { 'content-type': 'application/json' })).toBe(200);
  });

  /** Reads `changes` events, until one satisfies. */
  async function* changesOf(url: string): AsyncGenerator<Record<string, unknown>> {
    const answer = await fetch(`${url}/_sim/stream`);
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    let text = '';
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const told = text.slice(0, end);
        text = text.slice(end + 2);
        if (told === ': keep-alive') continue; // a busy machine may take longer than its pause
        const data = /^event: changes\ndata: (.*)$/s.exec(told)?.[1];
        yield data === undefined ? {} : (JSON.parse(data) as Record<string, unknown>);
      }
    }
  }

  test('changes are told as they happen, gathered, with the records as they are', async () => {
    const simulator = await open.simulator();
    const receiver = await open.receiver();
    const changes = changesOf(simulator.url);
    expect((await changes.next()).value).toEqual({}); // the stream is open
    const [rule] = simulator.rules.forwardTo(receiver.url);
    simulator.calls.start();
    await simulator.events.settled();
    const told: Record<string, unknown[]> = {};
    for await (const change of changes) {
      for (const [name, rows] of Object.entries(change))
        if (Array.isArray(rows)) (told[name] ??= []).push(...(rows as unknown[]));
      expect(change).toMatchObject({ resync: false });
      if (JSON.stringify(told['events']).includes('acknowledged')) break;
    }
    expect(told['rules']).toContainEqual(rule);
    expect(JSON.stringify(told)).not.toContain('whsec_');
    await simulator.close();
  });

  test('listeners that have gone are let go, and those that stay are told on', async () => {
    const simulator = await open.simulator();
    const stays = changesOf(simulator.url);
    await stays.next();
    for (let listener = 0; listener < 5; listener++) {
      const asked = get(`${simulator.url}/_sim/stream`, { agent: false });
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      answer.destroy();
    }
    const write = jest.spyOn(ServerResponse.prototype, 'write');
    let told = 0;
    const tellOnce = async () => {
      write.mockClear();
      const rule = simulator.rules.create({ trigger: 'call:started' });
      expect((await stays.next()).value).toEqual({ resync: false, rules: [rule], events: [] });
      const texts = write.mock.calls.map(([text]) => String(text));
      told = texts.filter((text) => text.includes(rule._id)).length;
      return told === 1;
    };
    try {
      await waitFor(tellOnce, { what: 'only the listener that stays is written to' });
    } finally {
      write.mockRestore();
    }
    expect(told).toBe(1);
  });

  test('a listener that does not read is disconnected, and costs no more memory', async () => {
    const simulator = await open.simulator();
    const changes = changesOf(simulator.url);
    await changes.next();
    const asked = get(`${simulator.url}/_sim/stream`, { agent: false });
    const [stuck] = (await once(asked, 'response')) as [IncomingMessage];
    const gone = once(stuck, 'error'); // it is read up to what the system has in its buffers
    const rule = simulator.rules.setRecordingWebhook({ url: 'http://127.0.0.1:9/hook' });
    // The buffers of the system take some megabytes before the simulator has to keep any.
    const read: boolean[] = [];
    for (let told = 0; told < 12; told++) {
      const url = `http://127.0.0.1:9/${'x'.repeat(1_500_000)}?${String(told)}`;
      simulator.rules.updateAction(rule._id, rule.actions[0]!._id, { url });
      read.push(JSON.stringify((await changes.next()).value).includes(`x?${String(told)}"`));
    }
    expect(read).not.toContain(false); // who reads is told everything
    stuck.resume();
    expect(await gone).toMatchObject([{ message: 'aborted' }]);
  }, 30_000);

  test('a change of something else is told without records', async () => {
    const simulator = await open.simulator();
    const rule = simulator.rules.setRecordingWebhook({ url: 'http://127.0.0.1:9/hook' });
    const message = simulator.messages.send({ subject: 'Hi', to: 'a@x.example' });
    const changes = changesOf(simulator.url);
    await changes.next();
    const somethingElse: (() => unknown)[] = [
      () => simulator.calls.start(),
      () => simulator.chaos.set({ replay: 0.1 }),
      () => simulator.clock.advance('1s'),
      () => simulator.secrets.rotate(rule.actions[0]!._id),
      () => simulator.messages.send({ subject: 'Hi', to: 'a@x.example' }),
      () => simulator.messages.record(message._id, { action: 'opened' }),
      () => simulator.rules.remove(rule._id),
    ];
    for (const change of somethingElse) {
      await change();
      expect((await changes.next()).value).toEqual({ resync: false, rules: [], events: [] });
    }
  });

  test('too many changes at once, or a reset, ask for a new look at the state', async () => {
    const simulator = await open.simulator();
    const [rule] = simulator.rules.forwardTo('http://127.0.0.1:9/hook');
    const paused = simulator.rules.pause(rule!._id);
    const changes = changesOf(simulator.url);
    await changes.next();
    for (let placed = 0; placed < 201; placed++) simulator.calls.start();
    const resync = { resync: true, rules: [], events: [] };
    expect((await changes.next()).value).toEqual(resync);
    // Only events count: of many other changes, the few events and rules are told.
    for (let changed = 0; changed < 201; changed++) simulator.chaos.set({ replay: 0.1 });
    const [first] = simulator.events.list();
    const copy = simulator.events.resend(first!._id);
    simulator.rules.pause(simulator.rules.resume(rule!._id)._id);
    expect((await changes.next()).value).toMatchObject({
      ...{ resync: false, rules: [{ _id: rule!._id }], events: [{ _id: copy._id }] },
    });
    for (let placed = 0; placed < 201; placed++) simulator.calls.start();
    simulator.rules.resume(paused._id);
    expect((await changes.next()).value).toEqual({ ...resync, rules: [rule] });
    simulator.reset();
    expect((await changes.next()).value).toEqual(resync);
    await simulator.close();
    expect((await changes.next()).done).toBe(true);
  });
});
