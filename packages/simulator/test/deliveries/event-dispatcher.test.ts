import { describe, expect, test } from '@jest/globals';
import { callDetails } from '@call-webhooks/core';
import type { Delivery } from '@call-webhooks/simulator';
import { STARTED_AT, testResources } from '../support/test-resources.ts';

const open = testResources();
const bodyOf = (delivery: Delivery) => JSON.parse(delivery.body) as Record<string, unknown>;

async function wholeCall(options = {}, recordingFirst = 0.5) {
  const simulator = await open.simulator({ recordingFirst, ...options });
  const receiver = await open.receiver();
  simulator.rules.forwardTo(receiver.url);
  const call = simulator.calls.place({ durationSeconds: 90, calledName: null });
  await simulator.clock.runUntilIdle();
  const deliveries = simulator.deliveries.list();
  const named = (name: string) => deliveries.find(({ eventName }) => eventName === name)!;
  return { simulator, receiver, call, deliveries, named };
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
    [1, ['call:started', 'call:recording-available', 'call:completed']],
    [0, ['call:started', 'call:completed', 'call:recording-available']],
  ])('a recording may come first (probability %i)', async (recordingFirst, order) => {
    const { deliveries } = await wholeCall({}, recordingFirst);
    expect(deliveries.map(({ eventName }) => eventName)).toEqual(order);
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
      gone: '{{nothing}}',
      list: [1, null, '{{ endedAt }}'],
    };
    simulator.rules.create({
      trigger: 'call:started',
      actions: [{ url: receiver.url, payload }],
    });
    const call = simulator.calls.start({ calledName: 'Dana', calledNumber: '+12025550101' });
    await simulator.deliveries.settled();
    expect(JSON.parse(receiver.received[0]!.body)).toEqual({
      text: 'Called Dana at +12025550101',
      id: call._id,
      at: STARTED_AT,
      from: call.fromPhoneNumber,
      gone: null,
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
  expect(simulator.deliveries.list()).toEqual([]);
  simulator.calls.end(_id);
  await simulator.clock.runUntilIdle();
  expect(simulator.deliveries.counts()).toEqual({ acknowledged: 2 });
  expect(() => simulator.calls.end(_id)).toThrow('already ended');
});
