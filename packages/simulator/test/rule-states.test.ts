import type { ServerResponse } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { DEFAULT_WORKSPACE, type SimulatorOptions } from '@call-webhooks/simulator';
import { responses, oneEvent as sendOne } from './support/one-event.ts';
import { plainReceiver, type Respond } from './support/receiver.ts';
import { testResources } from './support/test-resources.ts';

const open = testResources();
const oneEvent = (respond: Respond | number, options?: SimulatorOptions) =>
  sendOne(open, respond, options);
/** The clock waits for no receiver: tests that turn it wait for what has to happen before. */
const HASTY = { patience: 1 };

describe('a receiver answers within 30 seconds', () => {
  test.each([200, 201, 204, 299])('%i acknowledges, and the body is ignored', async (status) => {
    const { simulator, event, rule } = await oneEvent((_received, response) => {
      response.writeHead(status).end('{"outcome":"failed"}');
    });
    await simulator.clock.runUntilIdle();
    expect(event()).toMatchObject({ state: 'acknowledged' });
    expect(event().attempts).toHaveLength(1);
    expect(rule().state).toBe('active');
    expect(simulator.outbox.list()).toEqual([]);
  });

  test('a 2xx after 29 s acknowledges', async () => {
    const { simulator, receiver, event } = await oneEvent(200, HASTY);
    receiver.respond = async (_received, response) => {
      await simulator.clock.sleep('29s');
      response.writeHead(200).end();
    };
    await receiver.arrived();
    await simulator.clock.advance('29s');
    await simulator.events.settled();
    expect(event().state).toBe('acknowledged');
    expect(event().attempts[0]!.endedAt! - event().attempts[0]!.startedAt).toBe(29_000);
  });

  test('a 2xx after 31 s is too late: it is retried', async () => {
    const { simulator, receiver, event, rule } = await oneEvent(200, HASTY);
    receiver.respond = async (_received, response, count) => {
      if (count === 1) await simulator.clock.sleep('31s');
      response.writeHead(200).end();
    };
    await receiver.arrived();
    await simulator.clock.advance('31s');
    await simulator.events.settled();
    expect(event()).toMatchObject({ state: 'waiting' });
    expect(responses(event())).toEqual(['timeout']);
    await simulator.clock.next();
    await simulator.events.settled();
    expect(event().state).toBe('acknowledged');
    expect(responses(event())).toEqual(['timeout', 200]);
    expect(rule().state).toBe('active');
  });

  test.each<[string, (response: ServerResponse) => unknown]>([
    ['is cut off', (response) => response.write('so far', () => response.destroy())],
    [
      'is shorter than its content-length',
      (response) => {
        response.setHeader('content-length', 100);
        response.write('so far', () => response.socket?.destroy());
      },
    ],
  ])('a 200 in time acknowledges, though its body %s', async (_what, respond) => {
    const { simulator, receiver, event } = await oneEvent(
      (_received, response) => void respond(response),
      { maxAttempts: 2 },
    );
    await simulator.clock.advance('10m');
    expect(receiver.received).toHaveLength(1);
    expect(event().state).toBe('acknowledged');
    expect(responses(event())).toEqual([200]);
  });

  test('a status line in time counts, though its body never ends', async () => {
    const [found, gone] = await Promise.all(
      [200, 404].map((status) =>
        oneEvent((_received, response) => {
          response.writeHead(status, { 'content-type': 'text/plain' }).write('so far');
        }),
      ),
    );
    // The clock goes on when a second has passed.
    await Promise.all([found, gone].map((one) => one!.simulator.clock.advance('10m')));
    expect([found, gone].map((one) => one!.receiver.received.length)).toEqual([1, 1]);
    expect(found!.event().state).toBe('acknowledged');
    expect(found!.event().attempts[0]!.response).toMatchObject({
      status: 200,
      body: 'so far',
      truncated: true,
    });
    expect([gone!.event().state, gone!.rule().pauseReason]).toEqual(['failed', 'responded-404']);
  });
});

describe('a receiver answers 404', () => {
  test('the rule is paused at once, without a retry, and its owner is mailed', async () => {
    const { simulator, receiver, event, rule } = await oneEvent(404);
    await simulator.clock.runUntilIdle();
    expect(receiver.received).toHaveLength(1);
    expect(event().state).toBe('failed');
    expect(rule()).toMatchObject({ state: 'paused', pauseReason: 'responded-404' });
    expect(simulator.outbox.list()).toMatchObject([{ to: ['ada@workspace.example'] }]);
  });

  test('also after other failures', async () => {
    const { simulator, receiver, event, rule } = await oneEvent((_received, response, count) => {
      response.writeHead(count === 1 ? 500 : 404).end();
    });
    await simulator.clock.runUntilIdle();
    expect(receiver.received).toHaveLength(2);
    expect([event().state, rule().pauseReason]).toEqual(['failed', 'responded-404']);
  });

  test.each(DEFAULT_WORKSPACE.users)('a rule of $name mails its owner alone', async (owner) => {
    const simulator = await open.simulator();
    const { url } = await open.receiver(404);
    const { _id: ownerId, email } = owner;
    simulator.rules.create({ trigger: 'call:started', ownerId, actions: [{ url }] });
    simulator.calls.start({ placedBy: ownerId });
    await simulator.clock.runUntilIdle();
    expect(simulator.outbox.list()).toMatchObject([{ to: [email] }]);
  });

  test("a workspace's rule mails the admins", async () => {
    const simulator = await open.simulator();
    const { url } = await open.receiver(404);
    simulator.rules.create({ trigger: 'call:started', scope: 'workspace', actions: [{ url }] });
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(simulator.outbox.list()).toMatchObject([
      { to: ['ben@workspace.example', 'cleo@workspace.example'] },
    ]);
  });

  test('two events that are answered 404 make one pause and one mail', async () => {
    const { simulator, ruleId } = await oneEvent(404);
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(simulator.events.counts()).toEqual({ failed: 2 });
    expect(simulator.outbox.list().map((mail) => mail.ruleId)).toEqual([ruleId]);
  });

  test('what waits to be retried is dropped', async () => {
    const { simulator, receiver, ruleId } = await oneEvent(500);
    await simulator.events.settled();
    receiver.respond = (_received, response) => void response.writeHead(404).end();
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(simulator.events.list({ ruleId }).map(({ state }) => state)).toEqual([
      'dropped',
      'failed',
    ]);
    expect(receiver.received).toHaveLength(2);
  });
});

describe('anything else is retried about every 5 minutes', () => {
  test.each([302, 307, 400, 401, 403, 409, 410, 429, 500, 502, 503])('%i', async (code) => {
    const { simulator, receiver, event, rule } = await oneEvent((_received, response, count) => {
      response.writeHead(count < 3 ? code : 204, { location: '/elsewhere' }).end();
    });
    await simulator.clock.runUntilIdle();
    expect(responses(event())).toEqual([code, code, 204]);
    expect(event().state).toBe('acknowledged');
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook', '/hook']);
    const times = event().attempts.map(({ startedAt }) => startedAt);
    for (const [index, time] of times.slice(1).entries())
      expect(Math.abs(time - times[index]! - 300_000)).toBeLessThanOrEqual(30_000);
    expect(
      new Set(event().attempts.map((a) => a.request.headers['X-Service-Webhook-Id'])).size,
    ).toBe(3);
    expect(rule().state).toBe('active');
  });

  test('sooner as often as later, by a tenth at most', async () => {
    const { simulator, event } = await oneEvent(500, { maxAttempts: 60 });
    await simulator.clock.runUntilIdle();
    const times = event().attempts.map(({ startedAt }) => startedAt);
    const off = times.slice(1).map((time, index) => time - times[index]! - 300_000);
    expect(Math.max(...off.map(Math.abs))).toBeLessThanOrEqual(30_000);
    expect(Math.min(...off)).toBeLessThan(-20_000);
    expect(Math.max(...off)).toBeGreaterThan(20_000);
  });

  test('exactly every retryEvery without jitter', async () => {
    const { simulator, event } = await oneEvent(500, {
      ...{ retryJitter: 0, retryEvery: '7m', maxAttempts: 3 },
    });
    await simulator.clock.runUntilIdle();
    const [first, ...later] = event().attempts.map(({ startedAt }) => startedAt);
    expect(later.map((time) => time - first!)).toEqual([420_000, 840_000]);
  });

  test('a refused connection', async () => {
    const simulator = await open.simulator({ maxAttempts: 2 });
    const gone = await plainReceiver();
    await gone.close();
    simulator.rules.create({ trigger: 'call:started', actions: [{ url: gone.url }] });
    simulator.calls.start();
    await simulator.events.settled();
    const [event] = simulator.events.list();
    expect(event).toMatchObject({
      state: 'waiting',
      attempts: [{ response: { kind: 'connection-error', code: 'ECONNREFUSED' } }],
    });
  });

  test('a connection that is reset', async () => {
    const { simulator, event } = await oneEvent((_received, response, count) => {
      if (count === 1) response.destroy();
      else response.end();
    });
    await simulator.clock.runUntilIdle();
    expect(responses(event())).toEqual(['connection-error', 200]);
  });

  test('a receiver that hangs', async () => {
    const { simulator, receiver, event } = await oneEvent(() => undefined, HASTY);
    await receiver.arrived();
    await simulator.clock.advance('29.9s');
    expect(event().state).toBe('in-flight');
    await simulator.clock.advance('100ms');
    await simulator.events.settled();
    expect(event()).toMatchObject({
      state: 'waiting',
      attempts: [{ response: { kind: 'timeout' } }],
    });
  });
});

describe('the last attempt fails', () => {
  test('the rule is paused, and its owner mailed', async () => {
    const { simulator, receiver, event, rule } = await oneEvent(500, { maxAttempts: 4 });
    await simulator.clock.runUntilIdle();
    expect(receiver.received).toHaveLength(4);
    expect(event().state).toBe('failed');
    expect(rule()).toMatchObject({ state: 'paused', pauseReason: 'last-attempt-failed' });
    expect(simulator.outbox.list()).toHaveLength(1);
  });

  test("a workspace's rule, and the recording webhook, mail the admins", async () => {
    const simulator = await open.simulator({ maxAttempts: 2 });
    const { url } = await open.receiver(500);
    const workspace = {
      trigger: 'call:completed',
      scope: 'workspace',
      actions: [{ url }],
    } as const;
    const rules = [simulator.rules.create(workspace), simulator.rules.setRecordingWebhook({ url })];
    simulator.calls.place();
    await simulator.clock.runUntilIdle();
    const admins = ['ben@workspace.example', 'cleo@workspace.example'];
    const mails = simulator.outbox.list();
    expect(mails.map(({ to }) => to)).toEqual([admins, admins]);
    expect(mails.map(({ ruleId }) => ruleId).sort()).toEqual(rules.map(({ _id }) => _id).sort());
    expect(simulator.rules.list()).toMatchObject([{ state: 'paused' }, { state: 'paused' }]);
  });

  test('by a time-out too', async () => {
    const options = { ...HASTY, maxAttempts: 1 };
    const { simulator, receiver, rule } = await oneEvent(() => undefined, options);
    await receiver.arrived();
    await simulator.clock.advance('30s');
    await simulator.events.settled();
    expect(rule().pauseReason).toBe('last-attempt-failed');
  });
});

describe('a paused rule', () => {
  test('drops its events, and sends again when resumed', async () => {
    const { simulator, receiver, ruleId } = await oneEvent(200);
    await simulator.events.settled();
    simulator.rules.pause(ruleId);
    simulator.calls.start();
    simulator.rules.resume(ruleId);
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(simulator.events.counts()).toEqual({ acknowledged: 2, dropped: 1 });
    expect(receiver.received).toHaveLength(2);
    expect(simulator.outbox.list()).toEqual([]);
  });

  test('holds its events until it is resumed, where that is wanted', async () => {
    const { simulator, receiver, ruleId } = await oneEvent(200, { whilePaused: 'hold' });
    simulator.rules.pause(ruleId);
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(simulator.events.counts()).toEqual({ acknowledged: 1, held: 1 });
    simulator.rules.resume(ruleId);
    await simulator.clock.runUntilIdle();
    expect(simulator.events.counts()).toEqual({ acknowledged: 2 });
    expect(receiver.received).toHaveLength(2);
  });

  test.each<[SimulatorOptions['whilePaused'], string, number]>([
    ['hold', 'acknowledged', 2],
    ['drop', 'dropped', 1],
  ])(
    'again leaves an event alone that it has met before (%s)',
    async (whilePaused, state, requests) => {
      let status = 500;
      const { simulator, receiver, ruleId } = await oneEvent(
        (_received, response) => void response.writeHead(status).end(),
        { whilePaused },
      );
      await simulator.events.settled();
      expect(simulator.events.counts()).toEqual({ waiting: 1 });
      status = 200;
      for (let time = 0; time < 3; time++) {
        simulator.rules.pause(ruleId);
        simulator.rules.resume(ruleId);
        await simulator.clock.runUntilIdle();
        expect(simulator.events.counts()).toEqual({ [state]: 1 });
      }
      expect(receiver.received).toHaveLength(requests);
    },
  );

  /** What happens to an event of the rule, and to one that was sent by hand, while both wait for a retry. */
  test.each<[string, SimulatorOptions['whilePaused'], string[], string[]]>([
    ['pause', 'drop', ['dropped', 'waiting'], ['dropped', 'acknowledged']],
    ['pause', 'hold', ['held', 'waiting'], ['held', 'acknowledged']],
    ['pause and resume', 'hold', ['waiting', 'waiting'], ['acknowledged', 'acknowledged']],
    ['pause and resume', 'drop', ['dropped', 'waiting'], ['dropped', 'acknowledged']],
    ['remove', 'hold', ['dropped', 'dropped'], ['dropped', 'dropped']],
  ])('after "%s", where events are to %s', async (what, whilePaused, now, later) => {
    const { simulator, receiver, ruleId } = await oneEvent(500, { whilePaused });
    await simulator.events.settled();
    simulator.events.resend(simulator.events.list()[0]!._id);
    await simulator.events.settled();
    const states = () => simulator.events.list().map(({ state }) => state);
    expect(states()).toEqual(['waiting', 'waiting']);
    if (what === 'remove') simulator.rules.remove(ruleId);
    else simulator.rules.pause(ruleId);
    if (what.endsWith('resume')) simulator.rules.resume(ruleId);
    await simulator.events.settled();
    expect(states()).toEqual(now);
    receiver.respond = (_received, response) => void response.end();
    await simulator.clock.runUntilIdle();
    expect(states()).toEqual(later);
    expect(simulator.outbox.list()).toEqual([]);
  });

  test('lets a single event be sent by hand', async () => {
    const { simulator, receiver, event, rule } = await oneEvent(404);
    await simulator.clock.runUntilIdle();
    receiver.respond = (_received, response) => void response.end();
    const again = simulator.events.resend(event()._id);
    await simulator.clock.runUntilIdle();
    expect(simulator.events.get(again._id)).toMatchObject({
      state: 'acknowledged',
      copyOf: event()._id,
    });
    expect(receiver.received[1]!.body).toBe(receiver.received[0]!.body);
    expect(rule().state).toBe('paused');
  });
});
