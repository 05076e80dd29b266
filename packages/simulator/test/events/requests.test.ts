import { describe, expect, test } from '@jest/globals';
import { callDetails, verify } from '@call-webhooks/core';
import type { WebhookEvent } from '@call-webhooks/simulator';
import { Webhook } from 'standardwebhooks';
import type { Received } from '../support/receiver.ts';
import { STARTED_AT, testResources } from '../support/test-resources.ts';

describe('the requests', () => {
  const open = testResources();
  const bodyOf = (event: WebhookEvent) => JSON.parse(event.body) as Record<string, unknown>;

  async function wholeCall(options = {}, recordingFirst = 0.5) {
    const simulator = await open.simulator({ recordingFirst, ...options });
    const receiver = await open.receiver();
    simulator.rules.forwardTo(receiver.url);
    const call = simulator.calls.place({ durationSeconds: 90, calledName: null });
    await simulator.clock.runUntilIdle();
    const events = simulator.events.list();
    const named = (name: string) => events.find(({ eventName }) => eventName === name)!;
    return { simulator, receiver, call, events, named };
  }

  describe('the bodies', () => {
    test('of call:started and call:completed have the fields of the spec', async () => {
      const { call, named } = await wholeCall();
      const started = bodyOf(named('call:started'));
      const completed = bodyOf(named('call:completed'));
      expect(started).toMatchObject({ callId: call._id, fromPhoneNumber: expect.anything() });
      expect(callDetails(started)).toEqual({
        placedBy: call.placedBy,
        createdAt: new Date(STARTED_AT),
        calledNumber: call.calledNumber,
        calledEmail: call.calledEmail,
        calledName: undefined,
        dialedAt: new Date(STARTED_AT),
        endedAt: undefined,
      });
      expect(started['createdAt']).toBe(STARTED_AT);
      expect(started['startedAt']).toBe('2026-01-31T12:00:00.000Z');
      expect(callDetails(completed).endedAt).toEqual(new Date(STARTED_AT + 90_000));
    });

    test('bear the configured names', async () => {
      const { call, named } = await wholeCall({ fieldNames: { calledNumber: 'dialedNumber' } });
      const body = bodyOf(named('call:started'));
      expect(body['dialedNumber']).toBe(call.calledNumber);
      expect(body).not.toHaveProperty('toPhoneNumber');
    });

    test('lack a field whose name is undefined, as for a receiver; a call has names of its own', async () => {
      const { simulator, named } = await wholeCall({ fieldNames: { calledEmail: undefined } });
      const values = Object.values(bodyOf(named('call:started')));
      expect(values.filter((value) => String(value).includes('@'))).toEqual([]);
      const fieldNames = { calledEmail: 'mail', placedBy: 'owner', calledNumber: undefined };
      simulator.calls.start({ fieldNames });
      const body = bodyOf(simulator.events.list().at(-1)!);
      expect(body['mail']).toContain('@');
      expect(body).toHaveProperty('owner');
      expect(Object.keys(body)).not.toContain('undefined');
      expect(body).toHaveProperty('createdAt');
    });

    test('of call:recording-available is exactly that of the spec', async () => {
      const { simulator, call, named } = await wholeCall();
      expect(bodyOf(named('call:recording-available'))).toEqual({
        eventName: 'call:recording-available',
        eventId: `${call._id}:recording-available`,
        callId: call._id,
        userId: call.placedBy,
        workspaceId: '5f0100000000000000000001',
        recordingStartedAt: '2026-01-31T12:00:00.000Z',
        recordingDurationSeconds: 90,
        occurredAt: '2026-01-31T12:01:31.000Z',
        recordingUrl: `${simulator.url}/v1/calls/${call._id}/recording`,
      });
    });

    test.each([
      ['at once', {}],
      ['in small parts', { chaos: { slowBody: 1 }, slowBodyMs: 1 }],
    ])('arrive whole with letters of more than one byte, sent %s', async (_how, options) => {
      const simulator = await open.simulator(options);
      const receiver = await open.receiver();
      const calledName = 'José Ñandú 電話 😀';
      simulator.rules.forwardTo(receiver.url);
      const payload = { note: `${calledName}: {{calledName}}` };
      simulator.rules.create({
        trigger: 'call:started',
        actions: [{ url: receiver.url, payload }],
      });
      simulator.calls.place({ calledName, recorded: false });
      await simulator.clock.runUntilIdle();
      const edited = JSON.stringify({ callId: calledName });
      await fetch(`${simulator.url}/_sim/events/${simulator.events.list()[0]!._id}/resend`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ body: edited }),
      });
      await simulator.events.settled();
      const sent = simulator.events.list();
      expect(sent.map(({ state }) => state)).toEqual(Array(4).fill('acknowledged'));
      expect(sent.map(({ body }) => body.split(calledName).length - 1)).toEqual([1, 2, 1, 1]);
      expect(receiver.received.map(({ body }) => body).sort()).toEqual(
        sent.map(({ body }) => body).sort(),
      );
      for (const { headers, body } of receiver.received)
        expect(headers['content-length']).toBe(String(Buffer.byteLength(body)));
    });

    test.each([
      [1, ['call:started', 'call:recording-available', 'call:completed']],
      [0, ['call:started', 'call:completed', 'call:recording-available']],
    ])('a recording may come first (probability %i)', async (recordingFirst, order) => {
      const { events } = await wholeCall({}, recordingFirst);
      expect(events.map(({ eventName }) => eventName)).toEqual(order);
    });
  });

  describe('a custom payload', () => {
    test('is sent instead, filled in, and without an eventName', async () => {
      const simulator = await open.simulator();
      const receiver = await open.receiver();
      const payload = {
        text: 'Called {{calledName}} at {{calledNumber}}{{nothing}}',
        id: '{{callId}}',
        at: '{{createdAt}}',
        from: '{{fromPhoneNumber}}',
        inText: 'From {{fromPhoneNumber}} at {{createdAt}}, {{callId}}.',
        gone: '{{nothing}}',
        // Not what every object has.
        odd: ['{{constructor}}', '{{toString}} and {{__proto__}}'],
        list: [1, null, '{{ endedAt }}'],
      };
      simulator.rules.create({
        trigger: 'call:started',
        actions: [{ url: receiver.url, payload }],
      });
      const call = simulator.calls.start({ calledName: 'Dana', calledNumber: '+12025550101' });
      await simulator.events.settled();
      expect(JSON.parse(receiver.received[0]!.body)).toEqual({
        text: 'Called Dana at +12025550101',
        id: call._id,
        at: STARTED_AT,
        from: call.fromPhoneNumber,
        inText: `From ${JSON.stringify(call.fromPhoneNumber)} at ${String(STARTED_AT)}, ${call._id}.`,
        gone: null,
        odd: [null, ' and '],
        list: [1, null, null],
      });
      expect(receiver.received[0]!.headers).toHaveProperty('x-service-signature');
    });
  });

  test('only rules with the trigger fire, each action by itself', async () => {
    const simulator = await open.simulator();
    const receiver = await open.receiver();
    simulator.rules.create({
      trigger: 'call:completed',
      actions: [{ url: receiver.url }, { url: receiver.url }],
    });
    const { _id } = simulator.calls.start({ recorded: false });
    expect(simulator.events.list()).toEqual([]);
    simulator.calls.end(_id);
    await simulator.clock.runUntilIdle();
    expect(simulator.events.counts()).toEqual({ acknowledged: 2 });
    expect(() => simulator.calls.end(_id)).toThrow('already ended');
  });

  /** The same headers under the names that the independent verifier knows. */
  const standard = ({ headers }: Received, prefix = 'x-service') => ({
    'webhook-id': String(headers[`${prefix}-webhook-id`]),
    'webhook-timestamp': String(headers[`${prefix}-timestamp`]),
    'webhook-signature': String(headers[`${prefix}-signature`]),
  });

  describe('a signed delivery', () => {
    test('is accepted by an independent verifier, every attempt with an id of its own', async () => {
      const simulator = await open.simulator();
      const receiver = await open.receiver((_received, response, count) => {
        response.writeHead(count % 2 ? 500 : 200).end();
      });
      simulator.rules.forwardTo(receiver.url, { secret: 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=' });
      simulator.calls.place();
      await simulator.clock.runUntilIdle();
      expect(receiver.received.length).toBeGreaterThan(3);
      const verifier = new Webhook('whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=');
      for (const received of receiver.received)
        expect(verifier.verify(received.body, standard(received))).toEqual(
          JSON.parse(received.body),
        );
      const ids = receiver.received.map(({ headers }) => headers['x-service-webhook-id']);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids[0]).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    });

    test('carries the wall time, or the time of the clock where that is wanted', async () => {
      const wall = await open.simulator();
      const clock = await open.simulator({ timestamps: 'clock', headerPrefix: 'X-Acme' });
      const receiver = await open.receiver();
      for (const simulator of [wall, clock]) {
        simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
        simulator.calls.start();
        await simulator.events.settled();
      }
      const [first, second] = receiver.received as [Received, Received];
      expect(
        Math.abs(Number(first.headers['x-service-timestamp']) * 1_000 - Date.now()),
      ).toBeLessThan(10_000);
      expect(Number(second.headers['x-acme-timestamp'])).toBe(STARTED_AT / 1_000);
      await verify(
        { headers: second.headers, body: Buffer.from(second.body) },
        { secret: clock.secrets.all(), headerPrefix: 'X-Acme', now: () => STARTED_AT },
      );
    });

    test.each(['wall', 'clock'] as const)(
      'never carries a time ahead of the %s: fractions of a second are cut off',
      async (timestamps) => {
        for (const [ms, seconds] of [
          [0, 0],
          [499, 0],
          [500, 0],
          [999, 0],
          [1_000, 1],
        ] as const) {
          const now = STARTED_AT + ms;
          const simulator = await open.simulator({
            ...{ timestamps, startAt: timestamps === 'clock' ? now : 0 },
            wallClock: () => (timestamps === 'wall' ? now : 0),
          });
          const receiver = await open.receiver();
          simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
          simulator.calls.start();
          await simulator.events.settled();
          const { 'x-service-timestamp': sent } = receiver.received[0]!.headers;
          expect(Number(sent)).toBe(STARTED_AT / 1_000 + seconds);
        }
      },
    );

    test('has no headers but those it needs', async () => {
      const simulator = await open.simulator({ extraHeaders: { 'X-Extra': 'yes' } });
      const receiver = await open.receiver();
      simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
      simulator.calls.start();
      await simulator.events.settled();
      expect(Object.keys(receiver.received[0]!.headers).sort()).toEqual([
        'connection',
        'content-length',
        'content-type',
        'host',
        'x-extra',
        'x-service-signature',
        'x-service-timestamp',
        'x-service-webhook-id',
      ]);
    });
  });

  test('an old action without a secret is sent unsigned', async () => {
    const simulator = await open.simulator();
    const receiver = await open.receiver();
    const rule = simulator.rules.create({
      trigger: 'call:started',
      actions: [{ url: receiver.url, signed: false }],
    });
    simulator.calls.start();
    await simulator.events.settled();
    expect(
      Object.keys(receiver.received[0]!.headers).filter((name) => name.startsWith('x-')),
    ).toEqual([]);
    expect(simulator.secrets.get(rule.actions[0]!._id)).toBeUndefined();
    expect(() => simulator.secrets.rotate(rule.actions[0]!._id)).toThrow('No signed action');
  });

  test('after a rotation the next delivery, a retry included, is signed with the new secret', async () => {
    const simulator = await open.simulator();
    const receiver = await open.receiver((_received, response, count) => {
      response.writeHead(count === 1 ? 503 : 200).end();
    });
    const rule = simulator.rules.create({
      trigger: 'call:started',
      actions: [{ url: receiver.url }],
    });
    const [action] = rule.actions;
    const old = simulator.secrets.get(action!._id)!.current;
    simulator.calls.start();
    await simulator.events.settled();
    const fresh = simulator.secrets.rotate(action!._id);
    await simulator.clock.runUntilIdle();
    const [first, retry] = receiver.received as [Received, Received];
    expect(fresh).not.toBe(old);
    expect(new Webhook(old).verify(first.body, standard(first))).toBeTruthy();
    expect(new Webhook(fresh).verify(retry.body, standard(retry))).toBeTruthy();
    expect(() => new Webhook(old).verify(retry.body, standard(retry))).toThrow();
  });

  test.each<[what: string, head: number, counts: object, response: object]>([
    [
      'an event is acknowledged',
      200,
      { acknowledged: 1 },
      { kind: 'status', status: 200, body: 'the begin', truncated: true },
    ],
    ['a rule is paused', 404, { failed: 1 }, { kind: 'status', status: 404, truncated: true }],
  ])('%s by a status in time, although the body never ends', async (_what, head, ...expected) => {
    const [counts, response] = expected;
    const simulator = await open.simulator({ patience: 300, acknowledgeWithin: '30s' });
    const receiver = await open.receiver((_received, answer) => {
      answer.writeHead(head).write('the begin');
    });
    simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
    simulator.calls.start();
    await receiver.arrived();
    // It waits for the receiver, whose status arrives meanwhile, before it advances.
    await simulator.clock.advance('31s');
    await simulator.events.settled();
    expect(simulator.events.counts()).toEqual(counts);
    expect(simulator.events.list()[0]?.attempts).toMatchObject([{ response }]);
  });

  test.each([200, 404, 503])('a response with %d leaves no timer behind', async (status) => {
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const simulator = await open.simulator({ maxAttempts: 1 });
    const receiver = await open.receiver(status);
    simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
    const before = timers();
    simulator.calls.start();
    await simulator.events.settled();
    expect(simulator.events.list()[0]?.attempts).toMatchObject([{ response: { status } }]);
    expect(timers()).toBe(before);
  });
});
