import { describe, expect, test } from '@jest/globals';
import type { SimulatorOptions } from '@call-webhooks/simulator';
import { oneDelivery as deliverOne } from './support/one-delivery.ts';
import type { Respond } from './support/receiver.ts';
import { testResources } from './support/test-resources.ts';

const open = testResources();
const oneDelivery = (respond: Respond | number, options?: SimulatorOptions) =>
  deliverOne(open, respond, options);

describe('the last attempt fails', () => {
  test('the rule is paused, and its owner mailed', async () => {
    const { simulator, receiver, delivery, rule } = await oneDelivery(500, { maxAttempts: 4 });
    await simulator.clock.runUntilIdle();
    expect(receiver.received).toHaveLength(4);
    expect(delivery().state).toBe('failed');
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

  test('no time-out, no refusal is spared', async () => {
    const { simulator, rule } = await oneDelivery(() => undefined, {
      maxAttempts: 2,
      patience: 30,
    });
    await simulator.clock.runUntilIdle();
    expect(rule().pauseReason).toBe('last-attempt-failed');
  });
});

describe('a paused rule', () => {
  test('drops its events, and sends again when resumed', async () => {
    const { simulator, receiver, ruleId } = await oneDelivery(200);
    await simulator.deliveries.settled();
    simulator.rules.pause(ruleId);
    simulator.calls.start();
    simulator.rules.resume(ruleId);
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(simulator.deliveries.counts()).toEqual({ acknowledged: 2, dropped: 1 });
    expect(receiver.received).toHaveLength(2);
    expect(simulator.outbox.list()).toEqual([]);
  });

  test('holds its events until it is resumed, where that is wanted', async () => {
    const { simulator, receiver, ruleId } = await oneDelivery(200, { whilePaused: 'hold' });
    simulator.rules.pause(ruleId);
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    expect(simulator.deliveries.counts()).toEqual({ acknowledged: 1, held: 1 });
    simulator.rules.resume(ruleId);
    await simulator.clock.runUntilIdle();
    expect(simulator.deliveries.counts()).toEqual({ acknowledged: 2 });
    expect(receiver.received).toHaveLength(2);
  });

  test('lets a single delivery be sent by hand', async () => {
    const { simulator, receiver, delivery, rule } = await oneDelivery(404);
    await simulator.clock.runUntilIdle();
    receiver.respond = (_received, response) => void response.end();
    const again = simulator.deliveries.resend(delivery()._id);
    await simulator.clock.runUntilIdle();
    expect(simulator.deliveries.get(again._id)).toMatchObject({
      state: 'acknowledged',
      copyOf: delivery()._id,
    });
    expect(receiver.received[1]!.body).toBe(receiver.received[0]!.body);
    expect(rule().state).toBe('paused');
  });
});
