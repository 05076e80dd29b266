import { describe, expect, test } from '@jest/globals';
import type { SimulatorOptions, WebhookEventState } from '@call-webhooks/simulator';
import { getEvents } from '../support/rest.ts';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

test('of the body of a response, the first 64 KiB are kept', async () => {
  const simulator = await open.simulator();
  const body = 'ä'.repeat(40_000);
  const receiver = await open.receiver((_request, response) => void response.end(body));
  simulator.rules.forwardTo(receiver.url);
  simulator.calls.start();
  await simulator.events.settled();
  const { response } = simulator.events.list()[0]!.attempts[0]!;
  expect(response).toMatchObject({ kind: 'status', status: 200, truncated: true });
  expect(response).toHaveProperty('body', body.slice(0, 32_768));
});

test.each([
  [0, 1],
  [1.4, 1],
  [1.5, 2],
  [90.49, 90],
  [90.5, 91],
])('of a call of %d s, the recording has %d whole seconds', async (durationSeconds, seconds) => {
  const { calls, clock } = await open.simulator();
  const { _id } = calls.place({ durationSeconds });
  await clock.runUntilIdle();
  expect(calls.get(_id).recording).toHaveProperty('durationSeconds', seconds);
});

test.each([0, 1])(
  'a call without a recording is logged when it ends (recordingFirst: %i)',
  async (recordingFirst) => {
    const { calls, clock } = await open.simulator({ recordingFirst });
    const { endedAt, loggedAt } = calls.end(calls.start({ recorded: false })._id);
    expect([loggedAt, clock.nextDueAt()]).toEqual([endedAt, undefined]);
  },
);

test('events that wait for a place are sent in the order in which they happened', async () => {
  const simulator = await open.simulator({ maxInFlight: 1 });
  const receiver = await open.receiver();
  simulator.rules.create({ trigger: 'call:started', actions: [{ url: receiver.url }] });
  const placed = Array.from({ length: 6 }, () => simulator.calls.start()._id);
  await simulator.events.settled();
  const arrived = receiver.received.map(
    ({ body }) => (JSON.parse(body) as { callId: string }).callId,
  );
  expect(arrived).toEqual(placed);
});

test('a filter takes whole values: the beginning of one finds nothing', async () => {
  const { calls, events, rules } = await open.simulator({ maxAttempts: 1 });
  const { _id: ruleId } = rules.create({
    trigger: 'call:started',
    actions: [{ url: 'http://127.0.0.1:9/' }],
  });
  rules.pause(ruleId);
  const { _id: callId } = calls.start();
  const whole = { callId, ruleId, eventName: 'call:started', state: 'dropped' } as const;
  expect(events.list(whole)).toHaveLength(1);
  for (const [name, value] of Object.entries(whole)) {
    expect(events.list({ [name]: value.slice(0, -1) })).toEqual([]);
    expect(events.list({ [name]: value.toUpperCase() })).toEqual([]);
  }
});

describe('keepRecords', () => {
  test('the oldest finished events are removed, also from the counts', async () => {
    const simulator = await open.simulator({ keepRecords: 3 });
    let status = 500;
    const receiver = await open.receiver((_request, response) => {
      response.writeHead(status).end();
    });
    simulator.rules.forwardTo(receiver.url);
    simulator.calls.place({ durationSeconds: 10 });
    const [waiting] = simulator.events.list();
    await simulator.clock.advance('1s');
    expect(simulator.events.list()).toMatchObject([{ _id: waiting!._id, state: 'waiting' }]);
    status = 200;
    for (let call = 0; call < 4; call++) {
      simulator.calls.place({ durationSeconds: 10 });
      await simulator.clock.advance('20s');
      expect(simulator.events.list().length).toBeLessThanOrEqual(3);
    }
    // One that has yet to be sent is kept, however old it is.
    expect(simulator.events.list()[0]).toMatchObject({ _id: waiting!._id, state: 'waiting' });
    expect(simulator.events.counts()).toEqual({ waiting: 1, acknowledged: 2 });
  });

  test.each<[WebhookEventState, SimulatorOptions['whilePaused'], boolean]>([
    ['acknowledged', 'drop', true],
    ['failed', 'drop', true],
    ['dropped', 'drop', true],
    ['held', 'hold', false],
    ['waiting', 'drop', false],
    ['in-flight', 'drop', false],
  ])(
    'an old event that is %s makes room (where events are to %s): %s',
    async (state, whilePaused, makesRoom) => {
      const simulator = await open.simulator({ keepRecords: 1, whilePaused });
      const status = new Map([
        ['acknowledged', 200],
        ['failed', 404],
        ['waiting', 500],
      ]).get(state);
      const receiver = await open.receiver(status ?? (() => undefined));
      const actions = [{ url: receiver.url }];
      const { _id } = simulator.rules.create({ trigger: 'call:started', actions });
      if (status === undefined && state !== 'in-flight') simulator.rules.pause(_id);
      const call = simulator.calls.start({ recorded: false });
      if (state !== 'in-flight') await simulator.events.settled();
      const [old] = simulator.events.list();
      expect(old).toMatchObject({ state });
      simulator.rules.create({ trigger: 'call:completed', actions });
      simulator.calls.end(call._id);
      const kept = simulator.events.list().map(({ eventName }) => eventName);
      expect(kept).toEqual([...(makesRoom ? [] : ['call:started']), 'call:completed']);
      const { [state]: count = 0 } = simulator.events.counts();
      expect(count).toBe(makesRoom ? 0 : state === 'in-flight' ? 2 : 1);
    },
  );

  test.each([
    [0, 'loggedAt', 'recording'],
    [1, 'recording', 'loggedAt'],
  ])(
    'a call that has ended is kept until it is logged and has its recording (recordingFirst: %i)',
    async (recordingFirst, first, second) => {
      const { calls, clock } = await open.simulator({ keepRecords: 1, recordingFirst });
      const old = calls.end(calls.start()._id);
      if (recordingFirst) await clock.advance('1s');
      expect(calls.get(old._id)).toHaveProperty(first);
      expect(calls.get(old._id)).not.toHaveProperty(second);
      calls.start({ recorded: false });
      expect(calls.list()).toHaveLength(2);
      await clock.runUntilIdle();
      expect(calls.get(old._id)).toMatchObject({
        [first]: expect.anything(),
        [second]: expect.anything(),
      });
      const { _id } = calls.start({ recorded: false });
      expect(calls.list().map((one) => one._id)).toContain(_id);
      expect(calls.find(old._id)).toBeUndefined();
    },
  );

  test('the oldest calls are removed, but for those that go on or wait for their recording', async () => {
    const { calls, clock } = await open.simulator({ keepRecords: 2 });
    const ongoing = calls.start();
    const recorded = calls.place({ durationSeconds: 10, recorded: true });
    await clock.advance('10s');
    expect(calls.get(recorded._id)).not.toHaveProperty('recording');
    for (let call = 0; call < 3; call++) {
      calls.end(calls.place({ recorded: false, durationSeconds: 3_600 })._id);
      await clock.advance('500ms');
    }
    expect(calls.list()).toMatchObject([{ _id: ongoing._id }, { _id: recorded._id }, {}]);
    await clock.runUntilIdle(); // the ends that were planned for calls that are gone
    const newest = ['a', 'b'].map(() => calls.place({ recorded: false })._id);
    expect(calls.list().map(({ _id }) => _id)).toEqual([ongoing._id, ...newest]);
    await clock.runUntilIdle();
    expect(new Set(calls.list().map(({ _id }) => _id)).size).toBe(calls.list().length);
    expect(calls.get(ongoing._id).state).toBe('ongoing');
  });

  test('the oldest emails are removed', async () => {
    const simulator = await open.simulator({ keepRecords: 2, maxAttempts: 1 });
    const { url } = await open.receiver(500);
    const names = ['one', 'two', 'three'];
    for (const name of names)
      simulator.rules.create({ name, trigger: 'call:started', actions: [{ url }] });
    simulator.calls.start();
    await simulator.clock.runUntilIdle();
    const mails = simulator.outbox.list();
    expect(mails).toHaveLength(2);
    expect(new Set(mails.map(({ _id }) => _id)).size).toBe(2);
  });

  test('the oldest messages are removed with their activities, and the oldest activities', async () => {
    const simulator = await open.simulator({ keepRecords: 3 });
    const { messages } = simulator;
    const send = (subject: string) => messages.send({ subject, to: 'a@customer.example' })._id;
    const [gone, ...kept] = ['one', 'two', 'three'].map(send);
    messages.record(gone!, { action: 'clicked' });
    messages.record(kept[0]!, { action: 'opened' });
    const last = send('four');
    expect(messages.list().map(({ _id }) => _id)).toEqual([...kept, last]);
    expect(messages.activities()).toMatchObject([{ messageId: kept[0] }]);
    for (let at = 0; at < 3; at++) messages.record(last, { action: 'replied' });
    const activities = messages.activities();
    expect(activities.map(({ messageId }) => messageId)).toEqual([last, last, last]);
    expect(new Set(activities.map(({ _id }) => _id)).size).toBe(3);
    const { results } = await getEvents(simulator);
    expect(results.map(({ subject }) => subject)).not.toContain('one');
  });
});
