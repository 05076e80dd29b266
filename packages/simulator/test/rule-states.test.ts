import { describe, expect, test } from '@jest/globals';
import type { SimulatorOptions } from '@call-webhooks/simulator';
import { responses, oneDelivery as deliverOne } from './support/one-delivery.ts';
import { plainReceiver, type Respond } from './support/receiver.ts';
import { testResources } from './support/test-resources.ts';

const open = testResources();
const oneDelivery = (respond: Respond | number, options?: SimulatorOptions) =>
  deliverOne(open, respond, options);

describe('a receiver answers within 30 seconds', () => {
  test('any 2xx acknowledges, and the body is ignored', async () => {
    const { simulator, delivery, rule } = await oneDelivery((_received, response) => {
      response.writeHead(299).end('{"outcome":"failed"}');
    });
    await simulator.clock.runUntilIdle();
    expect(delivery()).toMatchObject({ state: 'acknowledged' });
    expect(delivery().attempts).toHaveLength(1);
    expect(rule().state).toBe('active');
    expect(simulator.outbox.list()).toEqual([]);
  });

  test('a 2xx after 29 s acknowledges', async () => {
    const { simulator, receiver, delivery } = await oneDelivery(200, { patience: 500 });
    receiver.respond = async (_received, response) => {
      await simulator.clock.sleep('29s');
      response.writeHead(200).end();
    };
    await simulator.clock.advance('29s');
    expect(delivery().state).toBe('acknowledged');
    expect(delivery().attempts[0]!.endedAt! - delivery().attempts[0]!.startedAt).toBe(29_000);
  });

  test('a 2xx after 31 s is too late: it is retried', async () => {
    const { simulator, receiver, delivery, rule } = await oneDelivery(200, { patience: 500 });
    receiver.respond = async (_received, response, count) => {
      if (count === 1) await simulator.clock.sleep('31s');
      response.writeHead(200).end();
    };
    await simulator.clock.advance('31s');
    expect(delivery()).toMatchObject({ state: 'waiting' });
    expect(responses(delivery())).toEqual(['timeout']);
    await simulator.clock.runUntilIdle();
    expect(delivery().state).toBe('acknowledged');
    expect(responses(delivery())).toEqual(['timeout', 200]);
    expect(rule().state).toBe('active');
  });

  test('a status line in time counts, even if the body never ends', async () => {
    const { simulator, delivery } = await oneDelivery((_received, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('and then');
    });
    await simulator.deliveries.settled();
    expect(delivery().state).toBe('acknowledged');
    expect(delivery().attempts[0]!.response).toMatchObject({ body: 'and then', truncated: true });
  });
});

describe('a receiver answers 404', () => {
  test('the rule is paused at once, without a retry, and its owner is mailed', async () => {
    const { simulator, receiver, delivery, rule } = await oneDelivery(404);
    await simulator.clock.runUntilIdle();
    expect(receiver.received).toHaveLength(1);
    expect(delivery().state).toBe('failed');
    expect(rule()).toMatchObject({ state: 'paused', pauseReason: 'answered-404' });
    expect(simulator.outbox.list()).toMatchObject([{ to: ['ada@workspace.example'] }]);
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

  test('two deliveries that are answered 404 make one pause and one mail', async () => {
    const { simulator, ruleId } = await oneDelivery(404);
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(simulator.deliveries.counts()).toEqual({ failed: 2 });
    expect(simulator.outbox.list().map((mail) => mail.ruleId)).toEqual([ruleId]);
  });

  test('what waits to be retried is dropped', async () => {
    const { simulator, receiver, ruleId } = await oneDelivery(500);
    await simulator.deliveries.settled();
    receiver.respond = (_received, response) => void response.writeHead(404).end();
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(simulator.deliveries.list({ ruleId }).map(({ state }) => state)).toEqual([
      'dropped',
      'failed',
    ]);
    expect(receiver.received).toHaveLength(2);
  });
});

describe('anything else is retried about every 5 minutes', () => {
  test.each([500, 503, 401, 410, 302])('%i', async (code) => {
    const { simulator, receiver, delivery, rule } = await oneDelivery(
      (_received, response, count) => {
        response.writeHead(count < 3 ? code : 204, { location: '/elsewhere' }).end();
      },
    );
    await simulator.clock.runUntilIdle();
    expect(responses(delivery())).toEqual([code, code, 204]);
    expect(delivery().state).toBe('acknowledged');
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook', '/hook']);
    const times = delivery().attempts.map(({ startedAt }) => startedAt);
    for (const [index, time] of times.slice(1).entries())
      expect(Math.abs(time - times[index]! - 300_000)).toBeLessThanOrEqual(30_000);
    expect(
      new Set(delivery().attempts.map((a) => a.request.headers['X-Service-Webhook-Id'])).size,
    ).toBe(3);
    expect(rule().state).toBe('active');
  });

  test('a refused connection', async () => {
    const simulator = await open.simulator({ maxAttempts: 2 });
    const gone = await plainReceiver();
    await gone.close();
    simulator.rules.create({ trigger: 'call:started', actions: [{ url: gone.url }] });
    simulator.calls.start();
    await simulator.deliveries.settled();
    const [delivery] = simulator.deliveries.list();
    expect(delivery).toMatchObject({
      state: 'waiting',
      attempts: [{ response: { kind: 'connection-error', code: 'ECONNREFUSED' } }],
    });
  });

  test('a connection that is reset', async () => {
    const { simulator, delivery } = await oneDelivery((_received, response, count) => {
      if (count === 1) response.destroy();
      else response.end();
    });
    await simulator.clock.runUntilIdle();
    expect(responses(delivery())).toEqual(['connection-error', 200]);
  });

  test('a receiver that hangs', async () => {
    const { simulator, delivery } = await oneDelivery(() => undefined, { patience: 50 });
    await simulator.clock.advance('29.9s');
    expect(delivery().state).toBe('in-flight');
    await simulator.clock.advance('100ms');
    expect(delivery()).toMatchObject({
      state: 'waiting',
      attempts: [{ response: { kind: 'timeout' } }],
    });
  });
});
